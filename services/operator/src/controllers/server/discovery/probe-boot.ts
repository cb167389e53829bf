import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { mintBootToken } from '@metal/api/wire/boot-token.ts';
import {
  bootTokenExpiresAnnotation,
  cleanupAttemptAnnotation,
  cleanupNeedAnnotation,
  defaultOsImageAnnotation,
  discoveryAttemptAnnotation,
  internalBootType,
  typeAnnotation,
} from '@metal/api/wire/contract.ts';
import { isInternalBoot } from '@metal/api/wire/internal-boot.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { keyOf, ownedBy } from '@metal/kube/kinds/kind.ts';
import type { OperatorContext } from '../../context.ts';
import type { ExtraFile } from './built-in-ignition.ts';
import { StaleDecision } from '../../../errors.ts';
import { writeBmcMark } from '../cleanup/records.ts';
import { memoryOf, patchGuarded, type ServerReconcile } from '../machine.ts';

/** What tells one boot of ours from another. */
export interface BootOptions {
  readonly annotations: Readonly<Record<string, string>>;
  readonly tokenValidMs: number;
  readonly files: readonly ExtraFile[];
}

export function prepareProbeBoot(reconcile: ServerReconcile): Promise<void> {
  return prepareBoot(reconcile, {
    annotations: { [discoveryAttemptAnnotation]: String(reconcile.facts.discoveryAttempts + 1) },
    tokenValidMs: reconcile.context.config.discoveryTimeoutMs,
    files: [],
  });
}

/**
 * Makes everything one attempt of a discovery or a cleanup boots from: a boot configuration of its own, hence a token of its own, and
 * the secrets that its ignition is rendered from. Steps that an interrupted turn already took are found and kept.
 *
 *   Server ──owns──► ServerBootConfiguration ──owns──► Secret <server> (ignition), Secret <server>-ssh
 */
export async function prepareBoot(reconcile: ServerReconcile, options: BootOptions): Promise<void> {
  const { object, context } = reconcile;
  const boot = await ensureBootConfiguration(object, options, context);
  await ensureSecrets(object, boot, options, context);
  const { name, namespace } = boot.metadata;
  memoryOf(reconcile).recordPreparedBoot(boot.metadata.uid ?? '');
  await patchGuarded(reconcile, { spec: { bootConfigurationRef: { name, namespace }, power: 'On' } });
}

/** Clears the server's reference to what it boots, and only then deletes the probe boot: nobody looks for what is gone. */
export async function clearBoot(reconcile: ServerReconcile): Promise<void> {
  const { object, context } = reconcile;
  const { client, caches, config } = context;
  const ref = { namespace: config.managerNamespace, name: object.metadata.name };
  if (object.spec.bootConfigurationRef !== undefined)
    await patchGuarded(reconcile, { spec: { bootConfigurationRef: null, power: 'Off' } });
  if (reconcile.facts.report === 'early') await dropEarlyReport(reconcile);
  const boot = caches.bootConfigurations.get(ref);
  if (boot === undefined || !isInternalBoot(boot) || boot.metadata.deletionTimestamp !== undefined) return;
  await client.delete(ServerBootConfiguration, ref, boot.metadata.uid === undefined ? {} : { uid: boot.metadata.uid });
}

/** Whoever sent it was not on the machine: nobody is to read disks and addresses in it. */
async function dropEarlyReport({ object, context }: ServerReconcile): Promise<void> {
  const { name } = object.metadata;
  const { uid } = context.caches.inventories.get(name)?.metadata ?? {};
  if (uid !== undefined) await context.client.delete(ServerInventory, { name }, { uid });
}

/**
 * What v0.7.0 deletes with a Server: the boot configuration and the BIOS settings it refers to. The references go
 * first; what an interruption leaves then goes with its owner.
 */
export async function dropBootsOfDeleted(reconcile: ServerReconcile): Promise<void> {
  const { object, context } = reconcile;
  const { client, caches, config } = context;
  const { bootConfigurationRef: ref, biosSettingsRef } = object.spec;
  if (ref !== undefined || biosSettingsRef !== undefined)
    await patchGuarded(reconcile, { spec: { bootConfigurationRef: null, biosSettingsRef: null } });
  if (biosSettingsRef !== undefined) await client.delete(BIOSSettings, { name: biosSettingsRef.name });
  const probeBoot = { namespace: config.managerNamespace, name: object.metadata.name };
  for (const boot of [ref, probeBoot].map((one) => one && caches.bootConfigurations.get(one))) {
    if (boot?.spec.serverRef.name !== object.metadata.name) continue;
    const { uid } = boot.metadata;
    await client.delete(ServerBootConfiguration, boot.metadata, uid === undefined ? {} : { uid });
  }
}

/** Deleting never needs the hardware. What is left behind is told while there is an object to tell it on. */
export async function recordDeletionEvent(reconcile: ServerReconcile): Promise<void> {
  const { facts, context, object } = reconcile;
  const power =
    facts.powerSeenMsAgo === undefined ? `${object.status?.powerState ?? 'Unknown'} when last seen` : facts.power;
  const claim = facts.claim.binding === 'unbound' ? 'nobody held it' : `claim ${facts.claim.name} loses it`;
  const mark = (await writeBmcMark(reconcile))
    ? '; the next Server of it is cleaned up first, where the policy asks for that'
    : '';
  context.bmcConnections.observedSystem(object.metadata.uid ?? '').deletionReported = true;
  reconcile.warn('ServerDeleted', `The machine is left as it is: power ${power}, disks untouched; ${claim}${mark}`);
}

async function ensureBootConfiguration(
  server: Server,
  options: BootOptions,
  context: OperatorContext,
): Promise<ServerBootConfiguration> {
  try {
    return await createBootConfiguration(server, options, context);
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'AlreadyExists') throw error;
    const ref = { namespace: context.config.managerNamespace, name: server.metadata.name };
    return requireSame(await context.client.get(ServerBootConfiguration, ref), server, options.annotations);
  }
}

function createBootConfiguration(
  server: Server,
  { annotations, tokenValidMs }: BootOptions,
  { client, config, clock }: OperatorContext,
): Promise<ServerBootConfiguration> {
  const { name } = server.metadata;
  const ref = { namespace: config.managerNamespace, name };
  return client.create(ServerBootConfiguration, {
    metadata: {
      ...ref,
      annotations: {
        [typeAnnotation]: internalBootType,
        [defaultOsImageAnnotation]: 'true',
        [bootTokenExpiresAnnotation]: new Date(clock.now() + tokenValidMs).toISOString(),
        ...annotations,
      },
      ownerReferences: [ownedBy(server)],
    },
    spec: { serverRef: { name }, image: config.probeOsImage, ignitionSecretRef: { name } },
  });
}

function requireSame(
  boot: ServerBootConfiguration,
  server: Server,
  annotations: BootOptions['annotations'],
): ServerBootConfiguration {
  const { ownerReferences, deletionTimestamp, annotations: found = {} } = boot.metadata;
  const owned = ownerReferences?.some(({ uid }) => uid === server.metadata.uid) ?? false;
  const isSame = attemptAnnotations.every((name) => found[name] === annotations[name]);
  if (owned && isSame && deletionTimestamp === undefined) return boot;
  throw new StaleDecision(
    `ServerBootConfiguration ${keyOf(boot)} exists and does not belong to this attempt of this server, or is being deleted; the name is needed`,
  );
}

const attemptAnnotations = [discoveryAttemptAnnotation, cleanupAttemptAnnotation, cleanupNeedAnnotation] as const;

async function ensureSecrets(
  server: Server,
  boot: ServerBootConfiguration,
  { files }: BootOptions,
  context: OperatorContext,
): Promise<void> {
  const { name } = server.metadata;
  const token = mintBootToken(await context.bootTokenKey(), boot.metadata.uid ?? '');
  const { systemUUID } = server.spec;
  const { ignition, format, access } = await context.discoveryIgnition.render({ systemUUID, token, files });
  await createSecret(name, boot, { ...(format && { format }), ignition }, context);
  if (access !== undefined) await createSecret(`${name}-ssh`, boot, access, context);
}

async function createSecret(
  name: string,
  boot: ServerBootConfiguration,
  texts: Record<string, string>,
  { client }: OperatorContext,
): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
  const metadata = { name, namespace: boot.metadata.namespace, ownerReferences: [ownedBy(boot)] };
  try {
    await client.create(Secret, { metadata, type: 'Opaque', data });
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'AlreadyExists') throw error;
    await requireSecretOf(boot, name, { client });
  }
}

/** A secret of an earlier attempt holds a dead token; it goes with its owner, or by our hand if the collector is late. */
async function requireSecretOf(
  boot: ServerBootConfiguration,
  name: string,
  { client }: Pick<OperatorContext, 'client'>,
): Promise<void> {
  const ref = { namespace: boot.metadata.namespace, name };
  const found = await client.find(Secret, ref);
  const owner = found?.metadata.ownerReferences?.find(({ kind }) => kind === 'ServerBootConfiguration');
  if (owner?.uid === boot.metadata.uid) return;
  if (owner === undefined)
    throw new StaleDecision(
      `Secret ${keyOf(ref)} exists and does not belong to a discovery; discovery needs that name`,
    );
  await client.delete(Secret, ref, found?.metadata.uid === undefined ? {} : { uid: found.metadata.uid });
  throw new StaleDecision(`Secret ${keyOf(ref)} was of an earlier attempt; it is deleted and made anew`);
}
