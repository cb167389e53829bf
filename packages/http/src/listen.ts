import { lookup } from 'node:dns/promises';
import { ConfigError } from '@metal/kube/config-error.ts';
import type { ServerResponse } from 'node:http';
import { networkInterfaces } from 'node:os';
import { Server as SecureServer } from 'node:https';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Certificate } from './certificate.ts';
import { limitConnections } from './connection-limit.ts';
import { fastify, type FastifyError, type FastifyInstance } from 'fastify';

export interface ListenAddress {
  /** By default all addresses. */
  readonly host?: string | undefined;
  /** Port 0 selects a free port. */
  readonly port: number;
  /** The command-line option that sets it, for error messages. */
  readonly option?: string | undefined;
}

export interface ListenOptions {
  readonly listen: ListenAddress;
  readonly tls?: Certificate | undefined;
  readonly clock: Clock;
  /** The time that running requests have when the service stops. */
  readonly shutdownGraceMs: number;
  /** Concurrent connections; 4,096 by default. */
  readonly mostConnections?: number | undefined;
}

export interface Listening extends AsyncDisposable {
  readonly port: number;
  /** Base URL on this machine. */
  readonly url: string;
}

export interface ListeningSecurely extends Listening {
  /** Uses another certificate for new connections. */
  readonly show: (certificate: Certificate) => void;
}

export interface Limits {
  /** The largest request body, in bytes. */
  readonly bodyLimit: number;
  /** The time for a whole request, in milliseconds. */
  readonly requestTimeout: number;
  /** The idle timeout of a connection, in milliseconds. */
  readonly connectionTimeout?: number;
  /** The time for the headers of a request, in milliseconds. */
  readonly headersTimeout?: number;
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
  readonly trustProxy?: readonly string[];
  readonly routerOptions?: { readonly maxParamLength: number };
}

const usualHeadersTimeoutMs = 10_000;
/** Connections that the kernel queues; a client beyond that retries its SYN after one and three seconds. */
const backlog = 4_096;
/** An idle connection needs memory. */
const keepAliveTimeout = 20_000;

/** A connection needs some 10 KB, with TLS some 50 KB. */
const usualMostConnections = 4_096;

/** A fastify application, with TLS or without. */
export function application(limits: Limits, tls?: ListenOptions['tls']): FastifyInstance {
  const { headersTimeout = usualHeadersTimeoutMs, trustProxy = [], ...others } = limits;
  // By default Node checks its connections every 30 s.
  const timeouts = { headersTimeout, connectionsCheckingInterval: headersTimeout / 2 };
  const options = {
    logger: false,
    keepAliveTimeout,
    frameworkErrors: rejectAddress,
    ...proxiesOf(trustProxy),
    ...others,
  };
  if (tls === undefined) return fastify({ ...options, http: timeouts });
  return fastify({ ...options, https: { ...timeouts, cert: tls.certificatePem, key: tls.keyPem } });
}

/** fastify treats an empty list as enabled. */
const proxiesOf = (trusted: readonly string[]) => (trusted.length === 0 ? {} : { trustProxy: [...trusted] });

/** The response to a malformed URL does not contain the URL. */
const rejectAddress = ({ statusCode = 400 }: FastifyError, _request: unknown, { raw }: { raw: ServerResponse }): void =>
  void raw
    .writeHead(statusCode, { 'content-type': 'text/plain; charset=utf-8' })
    .end('the address is not well-formed\n');

/**
 * Listens until disposed, with a limit of connections. Disposing waits for running requests, up to the grace period.
 * @throws ConfigError with the option and the address, where nobody can listen there
 */
export async function listenOn(http: FastifyInstance, options: ListenOptions): Promise<ListeningSecurely> {
  const { listen, tls, clock, shutdownGraceMs, mostConnections: most = usualMostConnections } = options;
  const close = async () => {
    using _timeout = clock.setTimeout(shutdownGraceMs, () => http.server.closeAllConnections());
    await http.close();
  };
  limitConnections(http.server, { most, clock });
  try {
    await http.listen({ host: await oneHost(listen.host ?? everyAddress()), port: listen.port, backlog });
  } catch (error) {
    await close();
    throw listenError(error, listen);
  }
  const address = http.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : listen.port;
  const show = ({ certificatePem: cert, keyPem: key }: Certificate) => {
    if (http.server instanceof SecureServer) http.server.setSecureContext({ cert, key });
  };
  const url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
  return { port, url, show, [Symbol.asyncDispose]: close };
}

const listenRemedies: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use; stop the program that listens there, or give another port',
  EACCES: 'may not be used by this account; give a port above 1023, or the capability NET_BIND_SERVICE',
  EADDRNOTAVAIL: 'is no address of this machine; give one that it has, or leave the host out for all of them',
  ENOTFOUND: 'is no known host; give an address of this machine, or leave the host out for all of them',
};

function listenError(error: unknown, { host = '', port, option }: ListenAddress): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const remedy = listenRemedies[code];
  if (remedy === undefined) return error;
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new ConfigError(`${option === undefined ? '' : `--${option}: `}${address} ${remedy} (${code})`, error);
}

/** `localhost` may have two addresses. For the second one fastify would open another server, without our limits and certificate. */
const oneHost = async (host: string): Promise<string> => (host === 'localhost' ? (await lookup(host)).address : host);

/** IPv4 and IPv6 if the machine has both. */
function everyAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.some(({ family }) => family === 'IPv6') ? '::' : '0.0.0.0';
}
