import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '@metal/kube/clock.ts';

export interface ConnectionLimit {
  /** Connections at once. */
  readonly most: number;
  readonly clock: Clock;
}

/** Who is being answered and took nothing for this long may be sent away in favour of somebody new. */
const stalledMs = 10_000;
/** Looking at all connections is not done for each newcomer of a flood. */
const lookAgainMs = 1_000;

/**
 * Bounds what clients cost who connect and say nothing, say it slowly, or take nothing: beyond `most` connections one makes
 * room for the new one.
 *
 *   without a request, for longest  ─►  being answered, and took nothing for 10 s  ─►  else the new one is refused
 */
export function limitConnections(server: Pick<Server, 'on'>, { most, clock }: ConnectionLimit): void {
  /** Without a request, in the order of how long. */
  const idle = new Set<Socket>();
  /** With one; what was written to them, and when that last grew as far as we looked. */
  const busy = new Map<Socket, { bytes: number; at: number }>();
  let lookedAt = Number.NEGATIVE_INFINITY;

  const stalled = (): Socket[] => {
    const now = clock.now();
    if (now - lookedAt < lookAgainMs) return [];
    lookedAt = now;
    for (const [socket, seen] of busy)
      if (socket.bytesWritten !== seen.bytes) busy.set(socket, { bytes: socket.bytesWritten, at: now });
    return [...busy].filter(([, { at }]) => now - at >= stalledMs).map(([socket]) => socket);
  };

  server.on('connection', (socket: Socket) => {
    socket.once('close', () => {
      idle.delete(socket);
      busy.delete(socket);
    });
    if (idle.size + busy.size >= most) {
      const [longest] = idle;
      const leaving = longest === undefined ? stalled() : [longest];
      for (const each of leaving.length === 0 ? [socket] : leaving) {
        idle.delete(each);
        busy.delete(each);
        each.destroy();
      }
    }
    if (!socket.destroyed) idle.add(socket);
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (!idle.delete(socket)) return;
    busy.set(socket, { bytes: socket.bytesWritten, at: clock.now() });
    response.once('close', () => {
      if (busy.delete(socket) && !socket.destroyed) idle.add(socket);
    });
  });
}
