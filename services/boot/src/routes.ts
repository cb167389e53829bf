import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { mintBootToken } from '@metal/api/wire/boot-token.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import type { Clock } from '@metal/kube/clock.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Artefact } from './artefact.ts';
import { BootError } from './errors.ts';
import type { Step } from './evidence.ts';
import type { EvidenceLog } from './evidence-log.ts';
import { ignitionIsSpent } from './expectation.ts';
import { readIgnition } from './ignition.ts';
import { type BootImage, type BootImages, preparedDigestOf } from './images.ts';
import type { KnownMachines } from './known-machines.ts';
import type { Machines } from './machines.ts';
import type { LayerName } from './oci/layers.ts';
import type { OciImages } from './oci/oci-images.ts';
import { Refusal } from './refusal.ts';
import { entryScript, localBootScript, machineScript } from './scripts.ts';
import { serveTokenless } from './tokenless-routes.ts';

export interface RoutesOptions {
  auth: 'token' | 'none';
  client: KubeClient;
  known: KnownMachines;
  oci: OciImages | undefined;
  defaultUkiImage: string | undefined;
  ipxeDirectory: string | undefined;
  machines: Machines;
  images: BootImages;
  evidence: EvidenceLog;
  clock: Clock;
  log: Logger;
  bootTokenKey: () => Promise<Uint8Array>;
  publicUrl: () => string;
}

/** Firmware wants a name that ends like that of a program. */
const files: Readonly<Record<string, LayerName & Step>> = {
  kernel: 'kernel',
  initrd: 'initrd',
  squashfs: 'squashfs',
  'uki.efi': 'uki',
};

type ByUuid = { Params: { uuid: string } };
type ByToken = { Params: { token: string } };
/** Machines have less patience than the API server may need. */
const acknowledgedWithinMs = 10_000;
const getOrHead: ('GET' | 'HEAD')[] = ['GET', 'HEAD'];

/**
 *   machine                                   boot service
 *   GET /ipxe/<uuid>                     ───► script with a token in its addresses      IPXEScriptFetched
 *   GET /boot/<token>/kernel, /initrd,   ───► streamed from file or URL, or from what was pulled and verified
 *       /squashfs, /uki.efi
 *   GET /boot/<token>/ignition           ───► Ignition JSON, while the boot is young    IgnitionDataFetched
 *   POST /boot/<token>/booted            ───► noted                                     BootStateReceived
 */
export function serveBoots(http: FastifyInstance, options: RoutesOptions): void {
  const { machines, images, evidence, client, clock, log } = options;
  http.removeAllContentTypeParsers();
  http.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  http.setErrorHandler((error, request, reply) => refuse(error, request, reply, log));
  http.setNotFoundHandler((request, reply) =>
    refuse(new Refusal(404, 'nothing is served at this address'), request, reply, log),
  );

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
      const { boot, reason } = await machines.expectationOf(server);
      if (boot === undefined) {
        log.info({ server: server.metadata.name, reason }, 'sent a machine to its next boot device');
        return sendScript(reply, localBootScript(server.metadata.name, reason));
      }
      onceDelivered(request, reply, () => void evidence.record(boot, 'script', `by ${request.ip}`));
      return sendScript(reply, await scriptFor(boot, options));
    },
  });

  for (const [file, layer] of Object.entries(files)) {
    http.route<ByToken>({
      method: getOrHead,
      url: `/boot/:token/${file}`,
      handler: async (request, reply) => {
        const boot = await machines.byToken(request.params.token);
        const artefact = (await imageOf(boot, images))[layer];
        if (artefact === undefined) throw new Refusal(404, `the image of this boot has no ${layer}`);
        onceDelivered(request, reply, () => void evidence.record(boot, layer, `by ${request.ip}`));
        return sendArtefact(request, reply, artefact);
      },
    });
  }
  serveTokenless(http, { ...options, send: sendArtefact });

  const sendIgnition = async (request: FastifyRequest, reply: FastifyReply, boot: ServerBootConfiguration) => {
    if (ignitionIsSpent(boot, clock.now()))
      throw new Refusal(403, 'the ignition of this boot was delivered before; it is not given out again');
    const ignition = await readIgnition(boot, client);
    if (ignition === undefined) throw new Refusal(404, 'this boot has no ignition');
    onceDelivered(request, reply, () => void evidence.record(boot, 'ignition', `by ${request.ip}`));
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
        throw new Refusal(403, 'ignition is given out by token only; use the address on the kernel command line');
      const { boot, reason } = await machines.expectationOf(machines.byUuid(request.params.uuid));
      if (boot === undefined) throw new Refusal(404, reason);
      return sendIgnition(request, reply, boot);
    },
  });

  http.post<ByToken>('/boot/:token/booted', async (request, reply) => {
    const boot = await machines.byToken(request.params.token);
    if (!saysNotBooted(request.body)) await recordedInTime(evidence.record(boot, 'booted'), clock);
    return reply.code(200).send();
  });
}

/** A system says once that it is up: it is thanked when that is written down, so that no crash of ours can lose it. */
async function recordedInTime(recorded: Promise<void>, clock: Clock): Promise<void> {
  const { promise: enough, reject } = Promise.withResolvers<never>();
  using _timer = clock.setTimeout(acknowledgedWithinMs, () =>
    reject(new Refusal(503, 'this could not be recorded yet; try again', { retryAfterSeconds: 5 })),
  );
  await Promise.race([recorded, enough]);
}

/** What was prepared, whatever the tag of the image points at by now. */
const imageOf = (boot: ServerBootConfiguration, images: BootImages): Promise<BootImage> =>
  images.resolve(boot.spec.image, { digest: preparedDigestOf(boot) });

async function scriptFor(
  boot: ServerBootConfiguration,
  { images, bootTokenKey, publicUrl }: RoutesOptions,
): Promise<string> {
  const image = await imageOf(boot, images);
  const token = mintBootToken(await bootTokenKey(), boot.metadata.uid ?? '');
  const withIgnition = (boot.spec.ignitionSecretRef?.name ?? '') !== '';
  return machineScript({
    server: boot.spec.serverRef.name,
    bootUrl: `${publicUrl()}/boot/${token}`,
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
  const delivery = await artefact.deliver({
    method,
    range,
    ifRange: Array.isArray(ifRange) ? ifRange[0] : ifRange,
    ifNoneMatch,
    signal: gone.signal,
  });
  return reply.code(delivery.status).headers(delivery.headers).send(delivery.body);
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
function saysNotBooted(body: unknown): boolean {
  try {
    const parsed: unknown = JSON.parse(typeof body === 'string' ? body : '');
    return typeof parsed === 'object' && parsed !== null && 'booted' in parsed && parsed.booted === false;
  } catch {
    return false;
  }
}

function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Logger): FastifyReply {
  const { status, message, retryAfterSeconds } = answerTo(error);
  // The address is left out: it may hold a token.
  const fields = { status, route: request.routeOptions.url, client: request.ip, reason: message };
  if (status >= 500) log.error({ ...fields, err: error }, 'request failed');
  else log.warn(fields, 'request refused');
  if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
  return reply.code(status).type('text/plain; charset=utf-8').send(`${message}\n`);
}

function answerTo(error: unknown): Pick<Refusal, 'status' | 'message'> & Partial<Refusal> {
  if (error instanceof Refusal) return error;
  if (error instanceof BootError) return { status: 503, message: error.message };
  const status =
    error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 503;
  return status < 500
    ? { status, message: 'the request is not well-formed' }
    : { status: 503, message: 'not available now; try again' };
}
