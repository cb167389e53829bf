import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Bounds what clients cost who connect and say nothing, or say it slowly: beyond `most` connections the one that has been
 * without a request for longest makes room for the new one. Requests under way are not cut off; where all connections
 * have one, the new one is refused.
 */
export function limitConnections(server: Pick<Server, 'on'>, most: number): void {
  /** Without a request, in the order of how long. */
  const idle = new Set<Socket>();
  let count = 0;
  server.on('connection', (socket: Socket) => {
    count += 1;
    socket.once('close', () => {
      count -= 1;
      idle.delete(socket);
    });
    idle.add(socket);
    if (count <= most) return;
    const [oldest = socket] = idle;
    idle.delete(oldest);
    oldest.destroy();
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    idle.delete(socket);
    response.once('close', () => !socket.destroyed && idle.add(socket));
  });
}
