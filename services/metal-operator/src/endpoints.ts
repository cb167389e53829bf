import type { MetalOperatorConfig, MetricsConfig } from './options.ts';
import { ConfigError } from '@metal/kube/config-error.ts';
import { Readable } from 'node:stream';
import { CertificateRenewal } from '@metal/http/certificate.ts';
import { handleErrors, logRejection, statusOf } from '@metal/http/handle-errors.ts';
import { HttpError } from '@metal/http/http-error.ts';
import { application, type ListenAddress, type Listening, listenOn } from '@metal/http/listen.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { configuredCertificate } from './configured-certificate.ts';
import { selfSigned } from './metrics/certificate.ts';
import { exposition } from './metrics/exposition.ts';

/** `:8080` (every address), `127.0.0.1:8080` or `[::1]:8080`. @throws ConfigError for anything else. */
export function listenAddressOf(text: string, option: string): ListenAddress {
  const match = /^(\[[^\]]+\]|[^:]*):(\d{1,5})$/.exec(text);
  if (match === null || Number(match[2]) > 65_535)
    throw new ConfigError(
      `--${option}: "${text}" is no listen address; expected something like :8080 or 127.0.0.1:8080, or 0 for none`,
    );
  return { host: match[1]?.replace(/^\[|\]$/g, '') || undefined, port: Number(match[2]), option };
}

/** Decides whether the bearer of a token may read metrics. */
export type MetricsGuard = (token: string) => Promise<boolean>;

/** Why the process cannot do its work now, as a text; undefined when it can. */
export type ReadinessCheck = () => Promise<string | undefined>;

export interface EndpointOptions {
  readonly guard: MetricsGuard;
  readonly readinessCheck: ReadinessCheck;
  /** Added to the answer of a process that is ready. */
  readonly readinessNote?: (() => string) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Endpoints extends AsyncDisposable {
  /** Base URLs on this machine; undefined where the configuration disables one. */
  readonly healthUrl: string | undefined;
  readonly metricsUrl: string | undefined;
}

/** Requests have no body. */
const limits = { bodyLimit: 1, requestTimeout: 10_000 };
const shutdownGraceMs = 1_000;

/**
 * Serves /healthz and /readyz, and /metrics, each at its configured address. The process is healthy while it
 * responds, and ready while the readiness check returns no reason.
 */
export async function startEndpoints(
  { healthAddress, metrics }: Pick<MetalOperatorConfig, 'healthAddress' | 'metrics'>,
  registry: Registry,
  options: EndpointOptions,
): Promise<Endpoints> {
  await using stack = new AsyncDisposableStack();
  const health = healthAddress === undefined ? undefined : await openHealth(healthAddress, options);
  if (health !== undefined) stack.use(health);
  const metricsUrl =
    metrics.address === undefined
      ? undefined
      : await openMetrics(metrics.address, { metrics, registry, ...options }, stack);
  const owned = stack.move();
  return { healthUrl: health?.url, metricsUrl, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function openHealth(
  address: string,
  { readinessCheck, readinessNote = () => '', clock }: EndpointOptions,
): Promise<Listening> {
  const http = application(limits);
  http.get('/healthz', async () => 'ok');
  http.get('/readyz', async (_request, reply) => {
    const notReadyReason = await readinessCheck();
    return notReadyReason === undefined ? `ok${readinessNote()}` : reply.code(503).send(notReadyReason);
  });
  return listenOn(http, { listen: listenAddressOf(address, 'health-probe-bind-address'), clock, shutdownGraceMs });
}

interface MetricsOptions extends EndpointOptions {
  readonly metrics: MetricsConfig;
  readonly registry: Registry;
}

async function openMetrics(address: string, options: MetricsOptions, stack: AsyncDisposableStack): Promise<string> {
  const { secure, certificate: files } = options.metrics;
  const { clock, log } = options;
  const tls = secure
    ? await (files === undefined ? selfSigned() : configuredCertificate('metrics-cert-path', files))
    : undefined;
  const http = application(limits, tls);
  serveMetrics(http, options);
  const listen = listenAddressOf(address, 'metrics-bind-address');
  const listening = stack.use(await listenOn(http, { listen, tls, clock, shutdownGraceMs }));
  if (tls !== undefined && files !== undefined)
    stack.use(
      new CertificateRenewal({ files, shown: tls, show: listening.show, clock, log: log.child({ part: 'metrics' }) }),
    );
  return listening.url;
}

function serveMetrics(
  http: FastifyInstance,
  { metrics: { secure }, registry, guard, log }: Omit<MetricsOptions, 'clock'>,
): void {
  handleErrors(http, {
    httpErrorFor: (error) =>
      error instanceof HttpError ? error : new HttpError(statusOf(error) ?? 500, 'metrics cannot be served now'),
    unknownRoute: () => new HttpError(404, 'only /metrics is served here'),
    // A client of the port may cause any number of refusals.
    onRejection: (rejection) => rejection.httpError.status === 500 && logRejection(rejection, { log }),
  });
  http.get('/metrics', async (request, reply) => {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (secure && token === undefined)
      return reply.code(401).send('a bearer token is needed: metrics are for authorised clients (--metrics-secure)');
    if (secure && !(await guard(token ?? '')))
      return reply
        .code(403)
        .send('this token may not GET /metrics; bind the ClusterRole metal-operator-metrics-reader to it');
    return reply.type(registry.contentType).send(Readable.from(exposition(registry)));
  });
}
