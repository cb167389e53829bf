import { unmapped } from '@metal/api/common/address-list.ts';
import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { mintBootToken } from '@metal/api/wire/boot-token.ts';
import { HttpError } from '@metal/http/http-error.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BootError } from '../errors.ts';
import { givesScript, readCustomScript } from '../scripts/custom-script.ts';
import { customScript, entryScript, heldScript, localBootScript, machineScript } from '../scripts/scripts.ts';
import { getOrHead, imageOf, onceDelivered } from './delivery.ts';
import type { RoutesOptions } from './routes-options.ts';

type ByUuid = { Params: { uuid: string } };
type ScriptRequest = FastifyRequest<ByUuid>;

const apiDeadlineMs = 10_000;

/** The iPXE scripts: the entry script, which chains to the script of the machine by its UUID. */
export function serveScripts(http: FastifyInstance, options: RoutesOptions): void {
  for (const url of ['/ipxe', '/ipxe/'])
    http.route({
      method: getOrHead,
      url,
      handler: (_request, reply) => sendScript(reply, entryScript(options.publicUrl())),
    });
  http.route<ByUuid>({
    method: getOrHead,
    url: '/ipxe/:uuid',
    handler: async (request, reply) => sendScript(reply, await scriptOf(request, reply, options)),
  });
}

async function scriptOf(request: ScriptRequest, reply: FastifyReply, options: RoutesOptions): Promise<string> {
  const { machines, progress, clients, log, publicUrl } = options;
  const server = machines.byUuid(request.params.uuid);
  const { name } = server.metadata;
  const { boot, reason, isHeld = false } = await machines.decide(server);
  if (boot === undefined && isHeld) {
    clients.recordRequestWhileOff(server, request.ip);
    return heldScript(name, reason, publicUrl());
  }
  if (boot === undefined) {
    log.info({ server: name, reason }, 'sent a machine to its next boot device');
    return localBootScript(name, reason);
  }
  if (!clients.mayHaveScript(boot, request.ip)) return heldScript(name, 'another client loads its boot', publicUrl());
  onceDelivered(request, reply, () => void progress.record(boot, 'script', `by ${unmapped(request.ip)}`));
  return (await customScriptFor(boot, server, options)) ?? (await scriptFor(boot, options));
}

/** The custom script of this boot, if it was prepared with one; as the API server has it now. */
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

/** A script contains a token: no proxy may cache it. */
const sendScript = (reply: FastifyReply, script: string): FastifyReply =>
  reply.header('cache-control', 'no-store').type('text/plain; charset=utf-8').send(script);
