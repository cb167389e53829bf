import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '@metal/kube/clock.ts';
import { Crowd } from './crowd.ts';

export interface ConnectionLimit {
  /** At once. */
  readonly most: number;
  readonly clock: Clock;
}

/**
 * Bounds what clients cost who connect and say nothing, say it slowly, or take nothing: beyond `most` connections one makes
 * room for the new one, or that is refused; `crowd.ts` says which. With TLS a connection is two sockets: one until
 * both sides know each other, and then the one that requests come by.
 */
export function limitConnections(server: Pick<Server, 'on'>, { most, clock }: ConnectionLimit): void {
  const crowd = new Crowd(clock);
  const plain = new Map<string, Socket>();
  const enter = (socket: Socket) => {
    crowd.enter(socket);
    socket.once('close', () => crowd.leave(socket));
  };
  server.on('connection', (socket: Socket) => {
    const ends = endsOf(socket);
    plain.set(ends, socket);
    socket.once('close', () => plain.get(ends) === socket && plain.delete(ends));
    enter(socket);
    if (crowd.size <= most) return;
    for (const leaving of crowd.roomFor(socket)) {
      crowd.leave(leaving);
      leaving.destroy();
    }
  });
  server.on('secureConnection', (secured: Socket) => {
    const socket = plain.get(endsOf(secured));
    if (socket !== undefined) crowd.leave(socket);
    enter(secured);
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (crowd.asks(socket)) response.once('close', () => crowd.isAnswered(socket));
  });
}

const endsOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;

/**
 * Bounds how many answers of some kind are under way: those that cost memory for as long as their client takes. Returns
 * whether one more may begin; others may have had to end for it.
 */
export function limitAnswers({ most, clock }: ConnectionLimit): (socket: Socket, answer: ServerResponse) => boolean {
  const crowd = new Crowd(clock);
  return (socket, answer) => {
    crowd.enter(socket);
    crowd.asks(socket);
    answer.once('close', () => crowd.leave(socket));
    if (crowd.size <= most) return true;
    const leaving = crowd.roomFor(socket);
    for (const each of leaving) crowd.leave(each);
    for (const each of leaving) if (each !== socket) each.destroy();
    return !leaving.includes(socket);
  };
}
