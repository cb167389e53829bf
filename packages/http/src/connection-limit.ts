import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { ConnectionTable } from './connection-table.ts';

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
  const connections = new ConnectionTable(clock);
  const plain = new Map<string, Socket>();
  const add = (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.remove(socket));
  };
  server.on('connection', (socket: Socket) => {
    const addresses = addressesOf(socket);
    plain.set(addresses, socket);
    socket.once('close', () => plain.get(addresses) === socket && plain.delete(addresses));
    add(socket);
    if (connections.size <= most) return;
    for (const victim of connections.selectVictims(socket)) {
      connections.remove(victim);
      victim.destroy();
    }
  });
  server.on('secureConnection', (secured: Socket) => {
    const socket = plain.get(addressesOf(secured));
    if (socket !== undefined) connections.remove(socket);
    add(secured);
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (connections.startRequest(socket)) response.once('close', () => connections.endRequest(socket));
  });
}

const addressesOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;

/**
 * Bounds how many answers of some kind are under way: those that cost memory for as long as their client takes. Returns
 * whether one more may begin; others may have had to end for it.
 */
export function limitResponses({
  most,
  clock,
}: ConnectionLimit): (socket: Socket, response: ServerResponse) => boolean {
  const connections = new ConnectionTable(clock);
  return (socket, response) => {
    connections.add(socket);
    connections.startRequest(socket);
    response.once('close', () => connections.remove(socket));
    if (connections.size <= most) return true;
    const victims = connections.selectVictims(socket);
    for (const each of victims) connections.remove(each);
    for (const each of victims) if (each !== socket) each.destroy();
    return !victims.includes(socket);
  };
}
