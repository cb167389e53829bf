import { lookup } from 'node:dns/promises';
import type { ServerResponse } from 'node:http';
import { networkInterfaces } from 'node:os';
import { Server as SecureServer } from 'node:https';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Certificate } from './certificate.ts';
import { limitConnections } from './connection-limit.ts';
import { fastify, type FastifyError, type FastifyInstance } from 'fastify';

export interface ListenOptions {
  /** Port 0 takes a free one; without a host, every address of the machine. */
  readonly listen: { readonly host?: string | undefined; readonly port: number };
  readonly tls?: Certificate | undefined;
  readonly clock: Clock;
  /** How long requests under way may take when the service stops. */
  readonly shutdownGraceMs: number;
  /** At once: 4 096, if not said otherwise. */
  readonly mostConnections?: number | undefined;
}

export interface Listening extends AsyncDisposable {
  readonly port: number;
  /** Base URL on this machine. */
  readonly url: string;
}

export interface ListeningSecurely extends Listening {
  /** Shows another certificate to whoever connects from now on. */
  readonly show: (certificate: Certificate) => void;
}

export interface Limits {
  /** Bytes of a request body. */
  readonly bodyLimit: number;
  /** Milliseconds until a request has to be complete. */
  readonly requestTimeout: number;
  /** Milliseconds a connection may lie idle. */
  readonly connectionTimeout?: number;
  /** Milliseconds until the header of a request has to be complete. */
  readonly headersTimeout?: number;
  /** Addresses and networks of proxies whose X-Forwarded-For names the client. */
  readonly trustProxy?: readonly string[];
  readonly routerOptions?: { readonly maxParamLength: number };
}

/** Whoever means it sends a header at once. */
const usualHeadersTimeoutMs = 10_000;
/** Who connects while we are busy waits; where this many wait, the next one tries again after a second, or three. */
const backlog = 4_096;
/** A connection that is kept for another request costs memory. */
const keepAliveTimeout = 20_000;

/** Each costs some ten kilobytes, with TLS some fifty. */
const usualMostConnections = 4_096;

/** An application of fastify, with a certificate or without. */
export function application(limits: Limits, tls?: ListenOptions['tls']): FastifyInstance {
  const { headersTimeout = usualHeadersTimeoutMs, trustProxy = [], ...others } = limits;
  // Node looks at its connections twice a minute, if it is not told to look more often.
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

/** None at all is not the same as an empty list. */
const proxiesOf = (trusted: readonly string[]) => (trusted.length === 0 ? {} : { trustProxy: [...trusted] });

/** An address that cannot be read is not sent back to whoever asked for it. */
const rejectAddress = ({ statusCode = 400 }: FastifyError, _request: unknown, { raw }: { raw: ServerResponse }): void =>
  void raw
    .writeHead(statusCode, { 'content-type': 'text/plain; charset=utf-8' })
    .end('the address is not well-formed\n');

/**
 * Listens until disposed, to so many at once as `connection-limit.ts` lets in. Requests under way may finish, but not keep
 * the service for ever.
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
    throw error;
  }
  const address = http.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : listen.port;
  const show = ({ certificatePem: cert, keyPem: key }: Certificate) => {
    if (http.server instanceof SecureServer) http.server.setSecureContext({ cert, key });
  };
  const url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
  return { port, url, show, [Symbol.asyncDispose]: close };
}

/** `localhost` may be two addresses. For the second one fastify would open a server of its own, which nobody limits or renews. */
const oneHost = async (host: string): Promise<string> => (host === 'localhost' ? (await lookup(host)).address : host);

/** Both families where the machine has both. */
function everyAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.some(({ family }) => family === 'IPv6') ? '::' : '0.0.0.0';
}
