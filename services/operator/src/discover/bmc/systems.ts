import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { SystemSummary } from '@metal/redfish/systems.ts';

export interface NewServer {
  readonly name: string;
  readonly systemUUID: string;
  readonly systemURI: string;
}

export interface MovedServer {
  readonly server: Server;
  readonly systemURI: string;
  readonly labels: Record<string, string>;
}

export interface RefusedSystem {
  readonly reason: 'SystemWithoutUUID' | 'DuplicateSystemUUID';
  readonly message: string;
}

/** What the systems that a BMC reports mean for the Server objects. */
export interface SystemsPlan {
  readonly create: readonly NewServer[];
  readonly update: readonly MovedServer[];
  readonly refused: readonly RefusedSystem[];
}

export interface SystemsPlanInput {
  readonly bmc: BMC;
  readonly systems: readonly SystemSummary[];
  readonly serversByUuid: (lowerCaseUuid: string) => readonly Server[];
  readonly isNameTaken: (name: string) => boolean;
  /** Names of all BMCs that report the UUID. */
  readonly reporters: (lowerCaseUuid: string) => readonly string[];
}

/**
 * A system is recognised by its UUID, never by its place in the list: lists change their order and lose members, and
 * a Server that silently became another machine would be wiped in its place.
 */
export function planSystems(input: SystemsPlanInput): SystemsPlan {
  const plan = { create: [] as NewServer[], update: [] as MovedServer[], refused: [] as RefusedSystem[] };
  const given = new Set<string>();
  for (const system of input.systems) placeSystem(system, input, plan, given);
  return plan;
}

type GrowingPlan = { create: NewServer[]; update: MovedServer[]; refused: RefusedSystem[] };

function placeSystem(system: SystemSummary, input: SystemsPlanInput, plan: GrowingPlan, given: Set<string>): void {
  const uuid = system.uuid?.toLowerCase();
  if (uuid === undefined) {
    plan.refused.push({
      reason: 'SystemWithoutUUID',
      message: `${system.uri} reports no UUID; set one in its firmware, it is what tells machines apart`,
    });
    return;
  }
  const others = input.reporters(uuid).filter((name) => name !== input.bmc.metadata.name);
  const [known] = input.serversByUuid(uuid);
  const foreign = known !== undefined && known.spec.bmcRef?.name !== input.bmc.metadata.name;
  if (others.length > 0 || foreign) plan.refused.push(duplicate(system.uri, uuid, others, known));
  if (known === undefined && others.length === 0)
    plan.create.push({ name: freeName(input, given), systemUUID: uuid, systemURI: system.uri });
  if (known !== undefined && !foreign) updateIfMoved(known, system, input.bmc, plan);
}

function duplicate(uri: string, uuid: string, others: readonly string[], known: Server | undefined): RefusedSystem {
  const holder = known === undefined ? 'no Server is made for it' : `Server ${known.metadata.name} keeps it`;
  const reporters = others.length === 0 ? 'a Server of another BMC' : `BMC ${others.join(', ')}`;
  return {
    reason: 'DuplicateSystemUUID',
    message: `${uri} has UUID ${uuid}, and so has ${reporters}; ${holder}. Two machines must not share a UUID, and one machine needs only one BMC object: correct the firmware or delete the surplus BMC`,
  };
}

function updateIfMoved(server: Server, system: SystemSummary, bmc: BMC, plan: GrowingPlan): void {
  const labels = missingLabels(bmc, server);
  if (server.spec.systemURI !== system.uri || Object.keys(labels).length > 0) {
    plan.update.push({ server, systemURI: system.uri, labels });
  }
}

function missingLabels(bmc: BMC, server: Server): Record<string, string> {
  const present = server.metadata.labels ?? {};
  return Object.fromEntries(Object.entries(bmc.metadata.labels ?? {}).filter(([key, value]) => present[key] !== value));
}

function freeName({ bmc, isNameTaken }: SystemsPlanInput, given: Set<string>): string {
  for (let index = 0; ; index += 1) {
    const name = `${bmc.metadata.name}-system-${index}`;
    if (given.has(name) || isNameTaken(name)) continue;
    given.add(name);
    return name;
  }
}
