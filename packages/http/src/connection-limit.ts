import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { ConnectionTable } from './connection-table.ts';

export interface ConnectionLimit {
  /** The largest number of connections or responses at the same time. */
  readonly most: number;
  readonly clock: Clock;
}

/**
 * Bounds the cost of idle and slow clients: beyond `most` connections, one is closed for the new one, or the new one is; see
 * `connection-table.ts`. A TLS connection has two sockets: one until the handshake is complete, then the one for requests.
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
 * Bounds the concurrent responses of a kind that needs memory until its client has read it. The function returns whether
 * another response may start; it may close other connections for that.
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
