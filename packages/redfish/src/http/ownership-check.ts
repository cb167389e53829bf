import type { buildConnector } from 'undici';
import { handedOverError } from '../errors.ts';
import type { Interceptor } from './interceptor.ts';

/** Whether this process may send to the BMC now, e.g. because it holds the lease of the BMC's shard. */
export type MaySend = () => boolean;

/** Fails with HandedOver, before anything is sent, when this process does not own the BMC. */
export const checkOwnership =
  (origin: string, maySend: MaySend = () => true): Interceptor =>
  (request, next) =>
    maySend() ? next(request) : Promise.reject(handedOverError(origin));

/**
 * Checks ownership again when a connection is established: a process that was suspended while it connected may have been
 * replaced by another one. The connection is closed before anything is written on it.
 */
export function guardedConnector(
  connect: buildConnector.connector,
  origin: string,
  maySend: MaySend = () => true,
): buildConnector.connector {
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error !== null || maySend()) return error === null ? callback(null, socket) : callback(error, null);
      socket.destroy();
      callback(handedOverError(origin), null);
    });
}
