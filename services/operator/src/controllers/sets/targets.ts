import { matches, selectorFault } from '@metal/api/common/label-selector.ts';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { byName } from '@metal/kube/runtime/sorted-names.ts';
import type { OperatorCaches } from '../../caches.ts';
import { isInService } from '../../rollouts/fleet-updates.ts';
import type { Update } from '../../rollouts/update.ts';
import type { SetKind, UpdateSet } from './set-kind.ts';

/** A Server or BMC that a set selects. */
export interface Target {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The server itself, or all servers of the BMC. */
  readonly servers: readonly Server[];
  readonly topology: string | undefined;
}

/** In the order of the rollout: by the value of the topology label, then by the name of the first server. */
export function targetsOf<S extends UpdateSet, C extends Update>(
  kind: SetKind<S, C>,
  set: S,
  caches: OperatorCaches,
): Target[] {
  const topologyKey = set.spec.rollout?.topologyKey;
  const selector = kind.selectorOf(set);
  if (selectorFault(selector) !== undefined) return [];
  const targets: Target[] = [];
  for (const object of kind.targetKind === 'Server' ? caches.servers.all() : caches.bmcs.all()) {
    if (!matches(selector, object.metadata.labels ?? {})) continue;
    const servers = serversOf(kind, object, caches);
    if (isSelectable(object, servers)) targets.push(targetOf(object, servers, topologyKey));
  }
  return targets.toSorted(byOrder);
}

/** A BMC is out of service with all of its servers. */
const isSelectable = (object: Server | BMC, servers: readonly Server[]): boolean =>
  isInService(object) && (servers.length === 0 || servers.some(isInService));

function serversOf<S extends UpdateSet, C extends Update>(
  { targetKind }: SetKind<S, C>,
  object: Server | BMC,
  { servers }: OperatorCaches,
): readonly Server[] {
  // The kind decides which of the two it is.
  if (targetKind === 'Server') return [object as Server];
  const { name } = object.metadata;
  return servers.by('bmc', name).toSorted((one, other) => byName(one.metadata.name, other.metadata.name));
}

function targetOf({ metadata }: Server | BMC, servers: readonly Server[], topologyKey: string | undefined): Target {
  const { name, labels = {} } = metadata;
  const [first] = servers;
  const topology =
    topologyKey === undefined ? undefined : (first?.metadata.labels?.[topologyKey] ?? labels[topologyKey]);
  return { name, labels, servers, topology };
}

/** A set of servers and one of their BMCs have the same order. Those without the label come last. */
function byOrder(one: Target, other: Target): number {
  if (one.topology !== other.topology) {
    if (one.topology === undefined) return 1;
    if (other.topology === undefined) return -1;
    return byName(one.topology, other.topology);
  }
  return byName(firstServerOf(one), firstServerOf(other)) || byName(one.name, other.name);
}

const firstServerOf = ({ name, servers: [first] }: Target): string => first?.metadata.name ?? name;
