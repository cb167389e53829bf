import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { maintenanceApprovedLabel } from '@metal/api/wire/contract.ts';
import { isHeldBy } from '../../../scheduling/eligibility.ts';
import type { OperatorCaches } from '../../../caches.ts';
import { type BootFacts, bootFactsOf } from '../boot/configuration-facts.ts';

/** Who works on the server, or wants to. */
export interface MaintenanceFacts {
  readonly state: 'none' | 'pending' | 'held' | 'dangling';
  readonly name: string;
  readonly wantsPower: 'On' | 'Off' | undefined;
  /** What it boots, when it brings an image of its own. */
  readonly boot: BootFacts | undefined;
  /** The image of its own that it names and that is not in sight. */
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

/** Enforced ones begin by themselves; the others need the consent of the claim, if there is one. */
function mayStart({ metadata, spec }: ServerMaintenance, server: Server, { claims }: OperatorCaches): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  if (spec.policy === 'Enforced') return true;
  if (spec.policy !== 'OwnerApproval') return false;
  const ref = server.spec.serverClaimRef;
  if (ref === undefined) return true;
  const claim = claims.get(ref);
  return claim?.metadata.labels?.[maintenanceApprovedLabel] !== undefined && isHeldBy(server, claim);
}
