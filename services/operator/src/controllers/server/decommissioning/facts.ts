import type { Server } from '@metal/api/v1alpha1/server.ts';
import { decommissionedAnnotation, resetBmcAnnotation } from '@metal/api/wire/contract.ts';
import { type Decommission, decommissionOf, isDecommissioned } from '@metal/api/wire/decommission.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { hasUnusableCredentials } from '../../../bmc-connections/unusable-credentials.ts';
import type { OperatorContext } from '../../context.ts';

export interface DecommissionFacts {
  /** Undefined unless the server is to leave the fleet, or has left it. */
  readonly request: Decommission | undefined;
  readonly isDone: boolean;
  /** RFC 3339. */
  readonly completedTime: string | undefined;
  /** A person wants the BMC reset to factory settings. */
  readonly wantsBmcReset: boolean;
  readonly bmcReset: 'none' | 'Accepted' | 'Unknown';
  /** Why the BMC does not take the reset. */
  readonly bmcResetRejection: string | undefined;
  /** A server of the same BMC that is not decommissioned: its operation needs the BMC as it is. */
  readonly bmcSharedWith: string | undefined;
  /** The BMC object has to be marked, as nothing is sent to it any more. */
  readonly leavesBmc: boolean;
  /** The BMC object is marked: this server was off, and the mark of the server itself was not written. */
  readonly isBmcMarked: boolean;
}

export function decommissionFacts(
  server: Server,
  { bmcReset }: ObservedSystem,
  { caches }: Pick<OperatorContext, 'caches'>,
): DecommissionFacts {
  const { annotations = {} } = server.metadata;
  const bmcName = server.spec.bmcRef?.name ?? '';
  const bmc = caches.bmcs.get(bmcName);
  const sharing = caches.servers
    .by('bmc', bmcName)
    .filter((other) => other.metadata.name !== server.metadata.name && !isDecommissioned(other));
  const shared = sharing[0]?.metadata.name;
  const secretRef = bmc === undefined ? server.spec.bmc?.bmcSecretRef : bmc.spec?.bmcSecretRef;
  const wasReset = hasUnusableCredentials(bmc ?? server, caches.bmcSecrets.get(secretRef?.name ?? ''));
  const isBmcMarked = bmc?.metadata.annotations?.[decommissionedAnnotation] !== undefined;
  return {
    request: decommissionOf(server),
    isDone: isDecommissioned(server),
    completedTime: annotations[decommissionedAnnotation],
    wantsBmcReset: annotations[resetBmcAnnotation] === 'true',
    bmcReset: bmcReset?.result ?? (wasReset ? (server.status?.decommission?.bmcReset ?? 'Unknown') : 'none'),
    bmcResetRejection: bmcReset?.rejection,
    bmcSharedWith: shared,
    leavesBmc: bmc !== undefined && shared === undefined && !isBmcMarked,
    isBmcMarked,
  };
}
