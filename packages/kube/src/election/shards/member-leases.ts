import * as z from 'zod';
import { Lease } from '../../kinds/builtin.ts';
import type { KubeClient } from '../../client/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import { microTime } from '../../client/events.ts';
import type { ObservedMember } from './assignment.ts';
import type { MemberLeases } from './membership-options.ts';
import { AssignmentView } from './rendezvous.ts';

export interface MemberLeasesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly namespace: string;
  /** Value of the label that all leases of the group have. */
  readonly group: string;
  /** Unique per process. */
  readonly identity: string;
  readonly leaseMs: number;
}

/** Label of the leases of sharing replicas. */
export const groupLabel = 'metal.ironcore.dev/replicas-of';
/** The view of a replica: names of the members' leases, as JSON. */
export const viewAnnotation = 'metal.ironcore.dev/acts-with';

const viewText = z.array(z.string()).min(1);

/** Name of the lease of a replica with this identity. */
export const leaseNameOf = (group: string, identity: string): string =>
  `${group}-${identity}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .slice(0, 253);

/** One Lease per replica: `kubectl get lease` lists the replicas. */
export function memberLeases(options: MemberLeasesOptions): MemberLeases {
  const { client, namespace, group, identity } = options;
  const name = leaseNameOf(group, identity);
  const at = (lease: string) => ({ namespace, name: lease });
  return {
    create: async (view, signal) => {
      const metadata = { ...at(name), labels: { [groupLabel]: group }, annotations: annotationsOf(view) };
      const { metadata: created } = await client.create(Lease, { metadata, spec: specOf(options) }, { signal });
      return created.resourceVersion ?? '';
    },
    renew: async (view, resourceVersion, signal) => {
      const { acquireTime: _, ...spec } = specOf(options);
      const patch = { metadata: { annotations: annotationsOf(view) }, spec };
      const { metadata } = await client.mergePatch(Lease, at(name), patch, { resourceVersion, signal });
      return metadata.resourceVersion ?? '';
    },
    // Without a resourceVersion: a consistent read from etcd, not from the watch cache of the API server.
    list: async (signal) =>
      (await client.list(Lease, { namespace, labelSelector: `${groupLabel}=${group}`, signal })).items.map((lease) =>
        observedMemberOf(lease, options),
      ),
    remove: (gone, signal) => client.delete(Lease, at(gone.name), { resourceVersion: gone.version, signal }),
  };
}

const annotationsOf = (view: AssignmentView) => ({ [viewAnnotation]: view.text });

function specOf({ identity, leaseMs, clock }: MemberLeasesOptions) {
  const now = microTime(clock.now());
  return {
    holderIdentity: identity,
    // Rounded up: others wait at least `leaseMs`.
    leaseDurationSeconds: Math.ceil(leaseMs / 1_000),
    acquireTime: now,
    renewTime: now,
  };
}

/** A member keeps its own lease duration, even if the Lease has a shorter one. */
function observedMemberOf({ metadata, spec }: Lease, { leaseMs }: MemberLeasesOptions): ObservedMember {
  return {
    name: metadata.name,
    version: metadata.resourceVersion ?? '',
    leaseMs: Math.max((spec?.leaseDurationSeconds ?? 0) * 1_000, leaseMs),
    view: viewIn(metadata.annotations?.[viewAnnotation]),
  };
}

function viewIn(text: string | undefined): AssignmentView | undefined {
  try {
    return new AssignmentView(viewText.parse(JSON.parse(text ?? '')));
  } catch {
    return undefined;
  }
}
