import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { mintBootToken } from '@metal/api/wire/boot-token.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { SingleFlight } from '@metal/kube/runtime/single-flight.ts';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Artefact } from '../images/artefact.ts';
import type { BootClients } from '../authorization/boot-clients.ts';
import type { Butane } from '../ignition/butane.ts';
import { givesScript, readCustomScript } from '../scripts/custom-script.ts';
import { BootError } from '../errors.ts';
import type { Step } from '../progress/boot-steps.ts';
import type { BootProgressRecorder } from '../progress/boot-progress-recorder.ts';
import { ignitionIsSpent } from '../authorization/boot-decision.ts';
import { readIgnition } from '../ignition/ignition.ts';
import { type BootImages, preparedDigestOf } from '../images/images.ts';
import type { KnownMachines } from '../authorization/known-machines.ts';
import type { BootAuthorizer } from '../authorization/boot-authorizer.ts';
import type { LayerName } from '../images/oci/layers.ts';
import type { OciImages } from '../images/oci/oci-images.ts';
import { limitAndHandleErrors } from './responses.ts';
import { OverloadedError, HttpError } from '@metal/http/http-error.ts';
import { customScript, entryScript, heldScript, localBootScript, machineScript } from '../scripts/scripts.ts';
import type { BootImage } from '../images/boot-plan.ts';
import { serveTokenless } from './tokenless-routes.ts';

export interface RoutesOptions {
  auth: 'token' | 'none';
  client: KubeClient;
  butane: Butane;
  known: KnownMachines;
  clients: BootClients;
  /** Whether the address is that of a proxy whose forwarding headers are believed. */
  isTrustedProxy: (address: string) => boolean;
  oci: OciImages | undefined;
  defaultUkiImage: string | undefined;
  ipxeDirectory: string | undefined;
  machines: BootAuthorizer;
  images: BootImages;
  progress: BootProgressRecorder;
  clock: Clock;
  log: Logger;
  bootTokenKey: () => Promise<Uint8Array>;
  publicUrl: () => string;
  /** Whether one more file may be sent. */
  mayDownload: (socket: Socket, response: ServerResponse) => boolean;
  /** Per client address; files are not counted. */
  rateLimit?: { burst: number; perSecond: number } | undefined;
}

/** Firmware wants a name that ends like that of a program. */
const files: Readonly<Record<string, LayerName & Step>> = {
  kernel: 'kernel',
  initrd: 'initrd',
  squashfs: 'squashfs',
  'uki.efi': 'uki',
};

const fileRoute = (file: string): string => `/boot/:token/${file}`;

type ByUuid = { Params: { uuid: string } };
type ByToken = { Params: { token: string } };
/** Machines have less patience than the API server may need. */
const acknowledgeTimeoutMs = 10_000;
const recordRetrySeconds = 5;
const apiDeadlineMs = 10_000;
const getOrHead: ('GET' | 'HEAD')[] = ['GET', 'HEAD'];
/** iPXE waits that long and asks again by itself. */
const downloadRetrySeconds = 5;
/** Reading it costs a request and perhaps a translation. */
const perIgnition = { everyMs: 1_000, burst: 5 };
/** What costs nobody else anything: it may be asked for in as many parts as a firmware likes. */
const freeRoutes = new Set(['/ipxe', '/ipxe/', '/httpboot/*', '/image', ...Object.keys(files).map(fileRoute)]);

/**
 *   machine                                   boot service
 *   GET /ipxe/<uuid>                     ───► script with a token in its addresses      IPXEScriptFetched
 *   GET /boot/<token>/kernel, /initrd,   ───► streamed from file or URL, or from what was pulled and verified
 *       /squashfs, /uki.efi
 *   GET /boot/<token>/ignition           ───► Ignition JSON, while the boot is young    IgnitionDataFetched
 *   POST /boot/<token>/booted            ───► noted                                     BootStateReceived
 */
export function serveBoots(http: FastifyInstance, options: RoutesOptions): void {
  const { machines, images, progress, clients, clock, log } = options;
  const send: typeof sendArtefact = (request, reply, artefact) => {
    if (!options.mayDownload(request.raw.socket, reply.raw))
      throw new OverloadedError('too many files are being sent; try again', downloadRetrySeconds);
    return sendArtefact(request, reply, artefact);
  };
  http.removeAllContentTypeParsers();
  http.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  limitAndHandleErrors(http, { clock, log, rateLimit: options.rateLimit, freeRoutes });

  for (const url of ['/ipxe', '/ipxe/']) {
    http.route({
      method: getOrHead,
      url,
      handler: (_request, reply) => sendScript(reply, entryScript(options.publicUrl())),
    });
  }

  http.route<ByUuid>({
    method: getOrHead,
    url: '/ipxe/:uuid',
    handler: async (request, reply) => {
      const server = machines.byUuid(request.params.uuid);
      const { boot, reason, isHeld = false } = await machines.decide(server);
      if (boot === undefined && isHeld) {
        clients.recordRequestWhileOff(server, request.ip);
        return sendScript(reply, heldScript(server.metadata.name, reason, options.publicUrl()));
      }
      if (boot === undefined) {
        log.info({ server: server.metadata.name, reason }, 'sent a machine to its next boot device');
        return sendScript(reply, localBootScript(server.metadata.name, reason));
      }
      if (!clients.mayHaveScript(boot, request.ip))
        return sendScript(
          reply,
          heldScript(server.metadata.name, 'another client loads its boot', options.publicUrl()),
        );
      onceDelivered(request, reply, () => void progress.record(boot, 'script', `by ${request.ip}`));
      return sendScript(reply, (await customScriptFor(boot, server, options)) ?? (await scriptFor(boot, options)));
    },
  });

  for (const [file, layer] of Object.entries(files)) {
    http.route<ByToken>({
      method: getOrHead,
      url: fileRoute(file),
      handler: async (request, reply) => {
        const { token } = request.params;
        const boot = await (file === 'uki.efi' ? machines.firstByToken(token) : machines.byToken(token));
        const artefact = (await imageOf(boot, images))[layer];
        if (artefact === undefined) throw new HttpError(404, `the image of this boot has no ${layer}`);
        clients.admit(boot, layer === 'squashfs' ? 'system' : 'firmware', request.ip);
        onceDelivered(request, reply, () => void progress.record(boot, layer, `by ${request.ip}`));
        return send(request, reply, artefact);
      },
    });
  }
  serveTokenless(http, { ...options, send });

  const ignitions = new SingleFlight<Awaited<ReturnType<typeof readIgnition>>>({ clock, ...perIgnition });
  const sendIgnition = async (request: FastifyRequest, reply: FastifyReply, boot: ServerBootConfiguration) => {
    if (ignitionIsSpent(boot, clock.now()))
      throw new HttpError(403, 'the ignition of this boot was delivered before; it is not given out again');
    clients.admit(boot, 'system', request.ip);
    const ignition = await ignitions.run(boot.metadata.uid ?? '', () => readIgnition(boot, options));
    if (ignition === undefined) throw new HttpError(404, 'this boot has no ignition');
    onceDelivered(request, reply, () => void progress.record(boot, 'ignition', `by ${request.ip}`));
    return reply.header('cache-control', 'no-store').type(ignition.contentType).send(ignition.reveal());
  };

  http.route<ByToken>({
    method: getOrHead,
    url: '/boot/:token/ignition',
    handler: async (request, reply) =>
      sendIgnition(request, reply, await machines.confirmedByToken(request.params.token)),
  });

  http.route<ByUuid>({
    method: getOrHead,
    url: '/ignition/:uuid',
    handler: async (request, reply) => {
      if (options.auth !== 'none')
        throw new HttpError(403, 'ignition is given out by token only; use the address on the kernel command line');
      const { boot, reason } = await machines.decide(machines.byUuid(request.params.uuid));
      if (boot === undefined) throw new HttpError(404, reason);
      return sendIgnition(request, reply, boot);
    },
  });

  http.post<ByToken>('/boot/:token/booted', async (request, reply) => {
    const boot = await machines.byToken(request.params.token);
    if (!reportsNotBooted(request.body)) await untilRecorded(progress.record(boot, 'booted'), clock);
    return reply.code(200).send();
  });
}

/** A system says once that it is up: it is thanked when that is written down, so that no crash of ours can lose it. */
async function untilRecorded(recorded: Promise<void>, clock: Clock): Promise<void> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  using _timer = clock.setTimeout(acknowledgeTimeoutMs, () =>
    reject(new OverloadedError('this could not be recorded yet; try again', recordRetrySeconds)),
  );
  await Promise.race([recorded, timeout]);
}

/** What was prepared, whatever the tag of the image points at by now. */
const imageOf = (boot: ServerBootConfiguration, images: BootImages): Promise<BootImage> =>
  images.resolve(boot.spec.image, { digest: preparedDigestOf(boot) });

/** One that a person wrote for this boot, if it was prepared with one; as the API server has it now. */
async function customScriptFor(
  boot: ServerBootConfiguration,
  { metadata, spec }: Server,
  options: RoutesOptions,
): Promise<string | undefined> {
  if (boot.status?.boot?.script === undefined) return undefined;
  const { client } = options;
  const signal = AbortSignal.timeout(apiDeadlineMs);
  try {
    const { name, namespace } = boot.metadata;
    const config = await client.find(IPXEBootConfig, { name, namespace }, { signal });
    if (!givesScript(config, boot)) return undefined;
    const text = await readCustomScript(config, spec.systemUUID, client, signal);
    return customScript({ server: metadata.name, bootUrl: await bootUrlOf(boot, options), text });
  } catch (cause) {
    if (cause instanceof BootError) throw cause;
    throw new HttpError(503, 'the API server cannot be asked now; try again', { retryAfterSeconds: 5, cause });
  }
}

const bootUrlOf = async (
  { metadata }: ServerBootConfiguration,
  { bootTokenKey, publicUrl }: RoutesOptions,
): Promise<string> => `${publicUrl()}/boot/${mintBootToken(await bootTokenKey(), metadata.uid ?? '')}`;

async function scriptFor(boot: ServerBootConfiguration, options: RoutesOptions): Promise<string> {
  const image = await imageOf(boot, options.images);
  const withIgnition = (boot.spec.ignitionSecretRef?.name ?? '') !== '';
  return machineScript({
    server: boot.spec.serverRef.name,
    bootUrl: await bootUrlOf(boot, options),
    image,
    withIgnition,
  });
}

async function sendArtefact(request: FastifyRequest, reply: FastifyReply, artefact: Artefact): Promise<FastifyReply> {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort(new Error('the client is gone')));
  const { range, 'if-range': ifRange, 'if-none-match': ifNoneMatch } = request.headers;
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  // Node joins what may not be repeated; if-range is a single string then.
  const response = await artefact.deliver({
    method,
    range,
    ifRange: Array.isArray(ifRange) ? ifRange[0] : ifRange,
    ifNoneMatch,
    signal: gone.signal,
  });
  return reply.code(response.status).headers(response.headers).send(response.body);
}

/** A script holds a token: no proxy may keep it. */
const sendScript = (reply: FastifyReply, script: string): FastifyReply =>
  reply.header('cache-control', 'no-store').type('text/plain; charset=utf-8').send(script);

/** Only what arrived counts as fetched: all of it, or the part that ends it. */
function onceDelivered({ method }: FastifyRequest, { raw }: FastifyReply, callback: () => void): void {
  if (method !== 'GET') return;
  raw.once('finish', () => {
    const [, last, size] = /^bytes \d+-(\d+)\/(\d+)$/.exec(String(raw.getHeader('content-range'))) ?? [];
    const isEnd = raw.statusCode === 206 && Number(last) + 1 === Number(size);
    if (raw.statusCode === 200 || isEnd) callback();
  });
}

/** `{"booted": false}` is a system that says it failed; anything else, also nothing, is one that is up. */
function reportsNotBooted(body: unknown): boolean {
  try {
    const parsed: unknown = JSON.parse(typeof body === 'string' ? body : '');
    return typeof parsed === 'object' && parsed !== null && 'booted' in parsed && parsed.booted === false;
  } catch {
    return false;
  }
}
