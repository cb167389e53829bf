import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { maintenanceApprovedLabel } from '@metal/api/wire/contract.ts';
import type { OperatorCaches } from '../../../caches.ts';
import { isHeldBy } from '../../../scheduling/eligibility.ts';
import { type BootFacts, bootFactsOf } from '../boot/configuration-facts.ts';

/** The ServerMaintenance that holds the server, or is about to. */
export interface MaintenanceFacts {
  /** pending: one may start, and its controller has not set the reference yet. dangling: the reference names none in the cache. */
  readonly state: 'none' | 'pending' | 'held' | 'dangling';
  readonly name: string;
  readonly wantsPower: 'On' | 'Off' | undefined;
  /** The boot configuration of the maintenance, if it has one. */
  readonly boot: BootFacts | undefined;
  /** The boot configuration that it names and that does not exist. */
  readonly missingBoot: string | undefined;
}

const nothingWanted = { wantsPower: undefined, boot: undefined, missingBoot: undefined } as const;

export function maintenanceOf({ spec }: Server, { maintenances }: OperatorCaches): ServerMaintenance | undefined {
  return spec.serverMaintenanceRef === undefined ? undefined : maintenances.get(spec.serverMaintenanceRef);
}

export function maintenanceFacts(server: Server, caches: OperatorCaches, now: number): MaintenanceFacts {
  const ref = server.spec.serverMaintenanceRef;
  if (ref === undefined) {
    const next = caches.maintenances.by('server', server.metadata.name).find((one) => mayStart(one, server, caches));
    const name = next === undefined ? '' : `${next.metadata.namespace ?? ''}/${next.metadata.name}`;
    return { state: next === undefined ? 'none' : 'pending', name, ...nothingWanted };
  }
  const name = `${ref.namespace}/${ref.name}`;
  const maintenance = maintenanceOf(server, caches);
  if (maintenance === undefined) return { state: 'dangling', name, ...nothingWanted };
  const power = maintenance.spec.serverPower;
  const bootRef = server.spec.maintenanceBootConfigurationRef;
  const namesBoot = bootRef !== undefined && bootRef.name !== '';
  const boot = namesBoot ? caches.bootConfigurations.get(bootRef) : undefined;
  return {
    state: 'held',
    name,
    wantsPower: power === 'On' || power === 'Off' ? power : undefined,
    boot: boot === undefined ? undefined : bootFactsOf(boot, server, now),
    missingBoot: namesBoot && boot === undefined ? `${bootRef.namespace}/${bootRef.name}` : undefined,
  };
}

/** Policy Enforced needs no approval; OwnerApproval needs the label on the claim, if there is a claim. */
function mayStart({ metadata, spec }: ServerMaintenance, server: Server, { claims }: OperatorCaches): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  if (spec.policy === 'Enforced') return true;
  if (spec.policy !== 'OwnerApproval') return false;
  const ref = server.spec.serverClaimRef;
  if (ref === undefined) return true;
  const claim = claims.get(ref);
  return claim?.metadata.labels?.[maintenanceApprovedLabel] !== undefined && isHeldBy(server, claim);
}
