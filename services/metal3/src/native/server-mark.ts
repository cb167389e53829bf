import type { ProvisioningState } from '@metal/api/metal3/bare-metal-host-status.ts';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import {
  adoptedForHostAnnotation,
  detachedServerAnnotation,
  hostOfServerAnnotation,
  hostTaint,
} from '@metal/api/metal3/metal3-contract.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { allowInterruptionAnnotation, operationAnnotation, operations } from '@metal/api/wire/contract.ts';
import { markOf } from './host-objects.ts';

const inUse: readonly ProvisioningState[] = ['provisioned', 'externally provisioned'];

/** The machine runs for the host already: it was provisioned by somebody else, or for the host in another cluster. */
export const isInUse = ({ spec }: BareMetalHost, state: ProvisioningState): boolean =>
  spec.externallyProvisioned === true || inUse.includes(state);

/** Annotations of a Server whose machine is to be taken over as it is. */
export const adoptionRequest = {
  [operationAnnotation]: operations.adopt,
  [adoptedForHostAnnotation]: 'true',
  [allowInterruptionAnnotation]: null,
} as const;

/** In these states of a Server nothing is in progress on its machine. */
export const isAdoptable = ({ status }: Server): boolean => ['', 'Initial', 'Available'].includes(status?.state ?? '');

interface Mark {
  readonly host: BareMetalHost;
  readonly isMarked: boolean;
  /** The Server was created for hosts, and is ignored until one of them is registered. */
  readonly isHeld: boolean;
  /** unknown: the host is free, but nobody has permitted to interrupt its machine by an inspection. */
  readonly use: 'free' | 'unknown' | 'inUse';
}

/** Undefined: it is as it should be. An operation=ignore of a person is respected. */
export function markOn(server: Server, { host, isMarked, isHeld, use }: Mark): object | 'ignored' | undefined {
  const { annotations = {} } = server.metadata;
  const { taints = [] } = server.spec;
  const isTainted = taints.some(({ key, effect }) => key === hostTaint && effect !== 'Evict');
  const isIgnored = annotations[operationAnnotation] === operations.ignore;
  const detached = annotations[detachedServerAnnotation];
  const endsIgnoring = isIgnored && (detached !== undefined || (isHeld && !isMarked));
  // The host was detached before its claim had taken the machine over, perhaps between the binding and that.
  const resumed = detached === operations.adopt ? detached : null;
  if (isIgnored && !endsIgnoring) return 'ignored';
  if (isMarked && isTainted && !isIgnored) return undefined;
  return {
    metadata: {
      annotations: {
        [hostOfServerAnnotation]: markOf(host),
        ...(endsIgnoring ? { [operationAnnotation]: resumed, [detachedServerAnnotation]: null } : {}),
        ...(isMarked ? {} : firstUse[use]),
      },
    },
    ...(isTainted ? {} : { spec: { taints: [...taints, { key: hostTaint, effect: 'NoBind' }] } }),
  };
}

const firstUse = {
  // Registering a host that is to be inspected permits its inspection.
  free: { [allowInterruptionAnnotation]: 'true' },
  unknown: {},
  inUse: adoptionRequest,
} as const;
