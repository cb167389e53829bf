import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { mintBootToken } from '@metal/api/wire/boot-token.ts';
import {
  bootTokenExpiresAnnotation,
  cleanupAttemptAnnotation,
  cleanupNeedAnnotation,
  defaultOsImageAnnotation,
  deploymentAnnotation,
  discoveryAttemptAnnotation,
  internalBootType,
  typeAnnotation,
} from '@metal/api/wire/contract.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { keyOf, ownedBy } from '@metal/kube/kinds/kind.ts';
import { StaleDecision } from '../../../errors.ts';
import type { OperatorContext } from '../../context.ts';
import type { ExtraFile } from '../discovery/built-in-ignition.ts';
import { memoryOf, patchSpec, type ServerReconcile } from '../machine.ts';

/** The differences between a discovery, a cleanup and a deployment. */
export interface BootOptions {
  readonly annotations: Readonly<Record<string, string>>;
  readonly tokenValidMs: number;
  readonly files: readonly ExtraFile[];
}

/**
 * Creates the boot configuration of one attempt at a discovery, a cleanup or a deployment, with a boot token of its own, and the Secrets of
 * its ignition. Objects that an interrupted reconcile created are kept.
 *
 *   Server ──owns──► ServerBootConfiguration ──owns──► Secret <server> (ignition), Secret <server>-ssh
 */
export async function prepareBoot(reconcile: ServerReconcile, options: BootOptions): Promise<void> {
  const { object, context } = reconcile;
  const boot = await ensureBootConfiguration(object, options, context);
  await ensureSecrets(object, boot, options, context);
  const { name, namespace } = boot.metadata;
  memoryOf(reconcile).recordPreparedBoot(boot.metadata.uid ?? '');
  await patchSpec(reconcile, { bootConfigurationRef: { name, namespace }, power: 'On' });
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
    `ServerBootConfiguration ${keyOf(boot)} is in the way: it is being deleted, or not of this attempt of this server`,
  );
}

const attemptAnnotations = [
  discoveryAttemptAnnotation,
  cleanupAttemptAnnotation,
  cleanupNeedAnnotation,
  deploymentAnnotation,
] as const;

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

/** The token in a Secret of an earlier attempt is no longer valid. If the garbage collector is late, it is deleted here. */
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
