import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { identityDerivedAnnotation } from '@metal/api/wire/contract.ts';
import type { SystemSummary } from '@metal/redfish/systems.ts';
import { labelChanges, labelNoteChange, labelNoteOf } from './labels.ts';

export interface NewServer {
  readonly name: string;
  readonly systemUUID: string;
  readonly systemURI: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface MovedServer {
  readonly server: Server;
  readonly systemURI: string;
  /** Null takes a label away. */
  readonly labels: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string | null>>;
}

export interface RefusedSystem {
  readonly reason: 'SystemWithoutUUID' | 'DuplicateSystemUUID' | 'SystemIdentityChanged';
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
  /** Servers of this BMC. */
  readonly ownServers: readonly Server[];
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
      message: `${system.uri} reports neither a UUID nor anything that one could be derived from; set UUID or serial number in its firmware, they are what tells machines apart`,
    });
    return;
  }
  const twin = input.systems.find((other) => other.uri !== system.uri && other.uuid?.toLowerCase() === uuid);
  if (twin !== undefined) {
    // Which of the two its Server stands for, nobody can tell: nothing is changed.
    plan.refused.push(twins(system.uri, uuid, twin.uri));
    return;
  }
  const others = input.reporters(uuid).filter((name) => name !== input.bmc.metadata.name);
  const [known] = input.serversByUuid(uuid);
  const foreign = known !== undefined && known.spec.bmcRef?.name !== input.bmc.metadata.name;
  if (others.length > 0 || foreign) plan.refused.push(duplicate(system.uri, uuid, others, known));
  if (known === undefined && others.length === 0) createUnlessChanged(system, uuid, input, plan, given);
  if (known !== undefined && !foreign) updateIfMoved(known, system, input.bmc, plan);
}

/**
 * Whatever answers where a Server was, under a UUID that nobody knows, gets no Server while the first one stands: a
 * board may have been exchanged, but BMCs also report a wrong UUID, or none, for a while after a restart. A second
 * Server would be discovered, and that switches the machine of the first one.
 */
function createUnlessChanged(
  system: SystemSummary,
  systemUUID: string,
  input: SystemsPlanInput,
  plan: GrowingPlan,
  given: Set<string>,
): void {
  const before = input.ownServers.find(({ spec }) => spec.systemURI === system.uri);
  if (before !== undefined && !isReported(before, input.systems)) {
    plan.refused.push(identityChanged(system, systemUUID, before));
    return;
  }
  const name = freeName(input, given);
  plan.create.push({ name, systemUUID, systemURI: system.uri, annotations: annotationsOf(system, input.bmc) });
}

/** Its machine is among them, if perhaps in another place. */
const isReported = ({ spec }: Server, systems: readonly SystemSummary[]): boolean =>
  systems.some(({ uuid }) => uuid?.toLowerCase() === spec.systemUUID.toLowerCase());

function annotationsOf({ uuidDerivedFrom }: SystemSummary, bmc: BMC): Record<string, string> {
  return {
    ...labelNoteOf(bmc),
    ...(uuidDerivedFrom === undefined ? {} : { [identityDerivedAnnotation]: uuidDerivedFrom }),
  };
}

function identityChanged({ uri, uuidDerivedFrom }: SystemSummary, uuid: string, before: Server): RefusedSystem {
  const now = uuidDerivedFrom === undefined ? `now reports UUID ${uuid}` : 'no longer reports a UUID';
  return {
    reason: 'SystemIdentityChanged',
    message: `${uri} ${now}, and its Server ${before.metadata.name} has ${before.spec.systemUUID}; no second Server is made while that one stands. If the board was exchanged, or the machine goes by this UUID for good, delete the Server when it is free`,
  };
}

const twins = (uri: string, uuid: string, twin: string): RefusedSystem => ({
  reason: 'DuplicateSystemUUID',
  message: `${uri} has UUID ${uuid}, and so has ${twin} behind the same BMC; correct the firmware, two machines must not share a UUID`,
});

function duplicate(uri: string, uuid: string, others: readonly string[], known: Server | undefined): RefusedSystem {
  const holder = known === undefined ? 'no Server is made for it' : `Server ${known.metadata.name} keeps it`;
  const reporters = others.length === 0 ? 'a Server of another BMC' : `BMC ${others.join(', ')}`;
  return {
    reason: 'DuplicateSystemUUID',
    message: `${uri} has UUID ${uuid}, and so has ${reporters}; ${holder}. Two machines must not share a UUID, and one machine needs only one BMC object: correct the firmware or delete the surplus BMC`,
  };
}

function updateIfMoved(server: Server, system: SystemSummary, bmc: BMC, plan: GrowingPlan): void {
  const labels = labelChanges(bmc, server);
  const annotations = labelNoteChange(bmc, server);
  const isSame = Object.keys(labels).length === 0 && Object.keys(annotations).length === 0;
  if (server.spec.systemURI !== system.uri || !isSame)
    plan.update.push({ server, systemURI: system.uri, labels, annotations });
}

function freeName({ bmc, isNameTaken }: SystemsPlanInput, given: Set<string>): string {
  for (let index = 0; ; index += 1) {
    const name = `${bmc.metadata.name}-system-${index}`;
    if (given.has(name) || isNameTaken(name)) continue;
    given.add(name);
    return name;
  }
}
