import { createHash } from 'node:crypto';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { byAge, type KubeObject } from '@metal/kube/kinds/kind.ts';
import { compareVersions } from '@metal/redfish/resources/versions.ts';
import { connectionOf, inlineConnectionOf } from '../bmc-connections/connection.ts';
import { inlineConnectionName, shardKeyOfServer } from '../bmc-connections/shard-key.ts';
import type { OperatorContext } from '../controllers/context.ts';
import { conditionsOf, type Explanation } from '../controllers/ready-condition.ts';
import { StaleDecision } from '../errors.ts';
import { firstOf, unservedSystems } from './bmc-systems.ts';
import type { Target, UpdateObject } from './types.ts';

const blocked = (bmcName: string, blocker: Explanation): Target => ({
  bmcName,
  bmc: undefined,
  connection: undefined,
  servers: [],
  blocker,
});

/** A server as the target, through its BMC. */
export function serverTarget(name: string | undefined, context: OperatorContext): Target {
  const server = context.caches.servers.get(name ?? '');
  if (server === undefined) {
    const message = `Server ${name === undefined || name === '' ? 'of spec.serverRef' : name} does not exist`;
    return blocked(`server/${name ?? ''}`, { reason: 'ServerNotFound', message });
  }
  const bmcName = server.spec.bmcRef?.name ?? '';
  if (bmcName !== '') return { ...bmcOf(bmcName, context), servers: [server] };
  const { connection, blocker } = inlineConnectionOf(server, context.caches, context.config);
  return {
    bmcName: inlineConnectionName(server),
    bmc: undefined,
    connection,
    servers: [server],
    blocker: blocker === undefined ? undefined : notReady(blocker.message),
  };
}

/** A BMC as the target, with all of its servers. */
export function bmcTarget(name: string | undefined, context: OperatorContext): Target {
  const target = bmcOf(name ?? '', context);
  const servers = context.caches.servers.by('bmc', name ?? '').toSorted(byAge);
  const message = `no Server of BMC ${name ?? ''} exists yet`;
  const blocker = target.blocker ?? (servers.length === 0 ? { reason: 'NoServer', message } : undefined);
  return { ...target, servers, blocker, ...otherSystems(target, servers, context) };
}

/** A restart of the BMC concerns all of its machines. A maintenance begins when those that get a Server have it. */
function otherSystems(
  { bmc, bmcName, connection }: Omit<Target, 'servers'>,
  servers: readonly Server[],
  { bmcConnections, caches }: OperatorContext,
): Pick<Target, 'awaited' | 'unmanaged'> {
  const observation = bmcConnections.lastObservedBmc(bmcName, connection).observation;
  if (bmc === undefined) return {};
  if (observation === undefined) return { awaited: notReady(`the systems of BMC ${bmcName} were not read yet`) };
  const hasServer = (uuid: string): boolean => caches.servers.by('uuid', uuid).length > 0;
  const { expected, unmanaged } = unservedSystems(bmc, { systems: observation.systems, servers, hasServer });
  const message = `${firstOf(expected)} of BMC ${bmcName} has no Server yet; it is created next`;
  return { unmanaged, awaited: expected.length === 0 ? undefined : { reason: 'NoServer', message } };
}

function bmcOf(bmcName: string, { caches, config }: OperatorContext): Omit<Target, 'servers'> {
  const bmc = caches.bmcs.get(bmcName);
  if (bmc === undefined) return blocked(bmcName, notReady(`BMC ${bmcName} does not exist`));
  const { connection, blocker } = connectionOf(bmc, caches, config);
  return { bmcName, bmc, connection, blocker: blocker === undefined ? bmcBlocker(bmc) : notReady(blocker.message) };
}

function bmcBlocker(bmc: BMC): Explanation | undefined {
  if (bmc.status?.state === 'Enabled') return undefined;
  const ready = conditionsOf(bmc).find(({ type }) => type === 'Ready');
  return notReady(`BMC ${bmc.metadata.name} is not ready (${ready?.reason ?? 'NotYetSeen'})`);
}

const notReady = (message: string): Explanation => ({ reason: 'BMCNotReady', message });

export const serverOf = ({ servers }: Target): Server => {
  const [server] = servers;
  if (server === undefined) throw new StaleDecision('the Server of the object is gone');
  return server;
};

/** URI and UUID of the machine: no request goes to another one. */
export function systemOf(target: Target): { readonly uri: string; readonly expectedUuid: string } {
  const { metadata, spec } = serverOf(target);
  if (spec.systemURI === undefined || spec.systemURI === '')
    throw new StaleDecision(`Server ${metadata.name} has no spec.systemURI yet`);
  return { uri: spec.systemURI, expectedUuid: spec.systemUUID };
}

/** Replicas share updates by BMC, like servers. */
export const shardKeyOfServerUpdate = (name: string | undefined, { caches }: OperatorContext): string => {
  const server = caches.servers.get(name ?? '');
  return server === undefined ? `server/${name ?? ''}` : shardKeyOfServer(server);
};

type Rival = UpdateObject & { readonly status?: { readonly state?: string | undefined } | undefined };

/**
 * Names the object that a target belongs to, if it is another one: one that has sent a change already, else the one for the latest version
 * where versions count, else the oldest.
 */
export function rivalAmong<T extends Rival>(
  object: T,
  sameTarget: readonly T[],
  { latestFirst }: { readonly latestFirst: boolean },
): string | undefined {
  const candidates = sameTarget.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (candidates.length < 2) return undefined;
  const order = (a: T, b: T): number =>
    Number(isUnderWay(b)) - Number(isUnderWay(a)) ||
    (latestFirst ? 0 - (compareVersions(a.spec.version, b.spec.version) ?? 0) : 0) ||
    byAge(a, b);
  const [first] = candidates.toSorted(order);
  return first === undefined || first.metadata.uid === object.metadata.uid
    ? undefined
    : `${first.kind} ${first.metadata.name} has this target`;
}

const isUnderWay = ({ status }: Rival): boolean =>
  status?.state === 'InProgress' && status.attempt?.sendTime !== undefined;

/** Identifies a desired state; the order of members does not count. */
export const digestOf = (desired: unknown): string =>
  createHash('sha256').update(JSON.stringify(desired, sortedMembers)).digest('hex');

const sortedMembers = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

export const namesOf = (objects: readonly KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name);
