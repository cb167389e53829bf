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
  /** Whose leases these are: the value of a label that all of them have. */
  readonly group: string;
  /** Of this process; unique. */
  readonly identity: string;
  readonly leaseMs: number;
}

/** Label of the leases of those who share keys. */
export const groupLabel = 'metal.ironcore.dev/replicas-of';
/** The names of the leases that a replica acts together with, as JSON. */
export const viewAnnotation = 'metal.ironcore.dev/acts-with';

const viewText = z.array(z.string()).min(1);

/** Name of the lease of a replica with this identity. */
export const leaseNameOf = (group: string, identity: string): string =>
  `${group}-${identity}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .slice(0, 253);

/** One Lease per replica: `kubectl get lease` shows who is there. */
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
    // Without a version the answer is what etcd has now, and not what a cache of the API server had a while ago.
    list: async (signal) =>
      (await client.list(Lease, { namespace, labelSelector: `${groupLabel}=${group}`, signal })).items.map((lease) =>
        observedMemberOf(lease, options),
      ),
    remove: (gone) => client.delete(Lease, at(gone.name), { resourceVersion: gone.version }),
  };
}

const annotationsOf = (view: AssignmentView) => ({ [viewAnnotation]: view.text });

function specOf({ identity, leaseMs, clock }: MemberLeasesOptions) {
  const now = microTime(clock.now());
  return {
    holderIdentity: identity,
    // Others wait at least as long as this member believes they do.
    leaseDurationSeconds: Math.ceil(leaseMs / 1_000),
    acquireTime: now,
    renewTime: now,
  };
}

/** A lease time that somebody shortened does not end a member that goes by its own. */
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
