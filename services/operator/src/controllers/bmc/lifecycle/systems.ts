import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import {
  acceptBmcAnnotation,
  acceptSystemUuidAnnotation,
  alternativeUuidAnnotation,
  identityDerivedAnnotation,
} from '@metal/api/wire/contract.ts';
import type { SystemSummary } from '@metal/redfish/resources/systems.ts';
import { labelChanges, labelNoteChange, labelNoteOf } from './labels.ts';
import {
  acceptedServerNotFound,
  duplicate,
  identityChanged,
  listIncomplete,
  type RejectedSystem,
  tooMany,
  duplicateWithinBmc,
  withoutUuid,
} from './rejected-systems.ts';

export interface NewServer {
  readonly name: string;
  readonly systemUUID: string;
  readonly systemURI: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface MovedServer {
  readonly server: Server;
  readonly systemURI: string;
  /** Null removes a label. */
  readonly labels: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string | null>>;
  /** It comes from another BMC object. */
  readonly isAdopted?: boolean;
}

/** The changes of Server objects that follow from the systems that a BMC reports. */
export interface SystemsPlan {
  readonly create: readonly NewServer[];
  readonly update: readonly MovedServer[];
  readonly rejected: readonly RejectedSystem[];
  /** Systems that are no machines and have no Server. */
  readonly noMachines: readonly SystemSummary[];
}

export interface SystemsPlanInput {
  readonly bmc: BMC;
  readonly systems: readonly SystemSummary[];
  /** Path of a system that the BMC lists and that could not be read. */
  readonly unreadable: string | undefined;
  /** A BMC that reports more systems gets no new Server. */
  readonly mostSystems: number;
  readonly serversByUuid: (lowerCaseUuid: string) => readonly Server[];
  /** Servers of this BMC. */
  readonly ownServers: readonly Server[];
  /** Servers that a person wants to have moved to this BMC object, which replaces theirs. */
  readonly accepting: readonly Server[];
  readonly isNameTaken: (name: string) => boolean;
  /** Names of all BMCs that report the UUID, or have it as the alternative one of the system at the URI. */
  readonly systemReporters: (lowerCaseUuid: string, uri: string) => readonly string[];
  /** This BMC object is older than all of these. */
  readonly isOldest: (bmcNames: readonly string[]) => boolean;
}

/**
 * A system is identified by its UUID, never by its position in the list: lists change their order and lose members, and a Server
 * that silently became another machine would be erased in its place.
 */
export function planSystems(input: SystemsPlanInput): SystemsPlan {
  return new Planner(input).plan();
}

/** Linear in the number of systems and Servers: the BMC decides how many systems it reports. */
class Planner {
  readonly #input: SystemsPlanInput;
  /** Each URI counts once. */
  readonly #systems: readonly SystemSummary[];
  readonly #urisByUuid = new Map<string, string[]>();
  readonly #ownByUri: ReadonlyMap<string, Server>;
  readonly #noMachines: readonly SystemSummary[];
  readonly #isTooMany: boolean;
  readonly #create: NewServer[] = [];
  readonly #update: MovedServer[] = [];
  readonly #rejected: RejectedSystem[] = [];
  /** Names of Servers. */
  readonly #adopted = new Set<string>();
  #nextIndex = 0;

  constructor(input: SystemsPlanInput) {
    this.#input = input;
    const byUri = new Map(input.systems.map((system) => [system.uri, system]));
    const ownUuids = new Set(input.ownServers.map(({ spec }) => spec.systemUUID.toLowerCase()));
    this.#ownByUri = new Map(input.ownServers.map((server) => [server.spec.systemURI ?? '', server]));
    const systems = [...byUri.values()].map((system) => this.#identified(system));
    // One that has a Server nevertheless, as of an earlier version, keeps it.
    const isMachine = ({ noMachineBecause, uuid = '' }: SystemSummary) =>
      noMachineBecause === undefined || ownUuids.has(uuid);
    this.#systems = systems.filter(isMachine);
    this.#noMachines = systems.filter((system) => !isMachine(system));
    for (const { uuid, uri } of this.#systems) {
      const uris = this.#urisByUuid.get(uuid ?? '');
      if (uris === undefined) this.#urisByUuid.set(uuid ?? '', [uri]);
      else uris.push(uri);
    }
    this.#isTooMany = this.#systems.length > input.mostSystems;
  }

  plan(): SystemsPlan {
    if (this.#isTooMany) this.#rejected.push(tooMany(this.#systems.length, this.#input.mostSystems));
    for (const system of this.#systems) {
      if (system.uuid === undefined) this.#rejected.push(withoutUuid(system.uri));
      else if (!this.#adopt(system, system.uuid)) this.#place(system, system.uuid);
    }
    this.#rejectUnknown();
    return { create: this.#create, update: this.#update, rejected: this.#rejected, noMachines: this.#noMachines };
  }

  /**
   * The UUID that a system without one gets depends on the serial numbers of its neighbours. A Server that was created while
   * they were not there, or could not be read, keeps its UUID.
   */
  #identified(system: SystemSummary): SystemSummary {
    const uuid = system.uuid?.toLowerCase();
    const before = this.#ownByUri.get(system.uri)?.spec.systemUUID.toLowerCase();
    const keepsAlternative = before !== undefined && before === system.alternativeUuid;
    return keepsAlternative ? { ...system, uuid: before, alternativeUuid: uuid } : { ...system, uuid };
  }

  /** The person confirmed the BMC by name, and the new UUID of the machine if that has changed, too. */
  #adopt(system: SystemSummary, uuid: string): boolean {
    const server = this.#input.accepting.find((candidate) => isFor(candidate, uuid));
    if (server === undefined || this.#urisByUuid.get(uuid)?.length !== 1) return false;
    this.#adopted.add(server.metadata.name);
    const { bmc } = this.#input;
    const annotations = { ...labelNoteChange(bmc, server), [acceptBmcAnnotation]: null };
    this.#update.push({
      server,
      systemURI: system.uri,
      labels: labelChanges(bmc, server),
      annotations,
      isAdopted: true,
    });
    return true;
  }

  #rejectUnknown(): void {
    if (this.#systems.length === 0) return;
    for (const server of this.#input.accepting)
      if (!this.#adopted.has(server.metadata.name)) this.#rejected.push(acceptedServerNotFound(server));
  }

  #place(system: SystemSummary, uuid: string): void {
    const { bmc, systemReporters, isOldest } = this.#input;
    const [first, second] = this.#urisByUuid.get(uuid) ?? [];
    const otherUri = first === system.uri ? second : first;
    // It is unknown which of the two the Server represents: nothing is changed.
    if (otherUri !== undefined) return void this.#rejected.push(duplicateWithinBmc(system, uuid, otherUri));
    const others = systemReporters(uuid, system.uri).filter((name) => name !== bmc.metadata.name);
    const servers = this.#serversOf(system, uuid);
    const own = servers.find(({ spec }) => spec.bmcRef?.name === bmc.metadata.name);
    const known = own ?? servers[0];
    const isCreatedHere = known === undefined && isOldest(others);
    if (others.length > 0 || known !== own)
      this.#rejected.push(duplicate(system, uuid, { others, known, isCreatedHere }));
    if (isCreatedHere) this.#createUnlessChanged(system, uuid);
    if (own !== undefined) this.#updateIfMoved(own, system);
  }

  /** Another BMC may have created the Server under the alternative UUID. */
  #serversOf({ uri, alternativeUuid }: SystemSummary, uuid: string): readonly Server[] {
    const { serversByUuid } = this.#input;
    const alternatives = alternativeUuid === undefined ? [] : serversByUuid(alternativeUuid);
    return [...serversByUuid(uuid), ...alternatives.filter(({ spec }) => spec.systemURI === uri)];
  }

  /**
   * A system with an unknown UUID at the URI of an existing Server gets no Server: the board may have been exchanged, but BMCs also
   * report a wrong UUID, or none, for a while after a restart. Discovery of a second Server would power cycle the machine of the
   * first one.
   */
  #createUnlessChanged(system: SystemSummary, systemUUID: string): void {
    const before = this.#ownByUri.get(system.uri);
    // The machine of the existing Server may be in the list at another URI.
    if (before !== undefined && !this.#urisByUuid.has(before.spec.systemUUID.toLowerCase())) {
      this.#rejected.push(identityChanged(system, systemUUID, before));
      return;
    }
    if (this.#isTooMany) return;
    const { unreadable } = this.#input;
    if (system.alternativeUuid !== undefined && unreadable !== undefined)
      return void this.#rejected.push(listIncomplete(system, unreadable));
    const annotations = annotationsOf(system, this.#input.bmc);
    this.#create.push({ name: this.#freeName(), systemUUID, systemURI: system.uri, annotations });
  }

  #updateIfMoved(server: Server, { uri }: SystemSummary): void {
    const labels = labelChanges(this.#input.bmc, server);
    const annotations = labelNoteChange(this.#input.bmc, server);
    const isSame = Object.keys(labels).length === 0 && Object.keys(annotations).length === 0;
    if (server.spec.systemURI === uri && isSame) return;
    this.#update.push({ server, systemURI: uri, labels, annotations });
  }

  /** The index only grows within one plan, so that no name is tried twice. */
  #freeName(): string {
    const { bmc, isNameTaken } = this.#input;
    for (;;) {
      const name = `${bmc.metadata.name}-system-${this.#nextIndex}`;
      this.#nextIndex += 1;
      if (!isNameTaken(name)) return name;
    }
  }
}

const isFor = ({ metadata, spec }: Server, uuid: string): boolean =>
  (metadata.annotations?.[acceptSystemUuidAnnotation] ?? spec.systemUUID).toLowerCase() === uuid;

function annotationsOf({ uuidDerivedFrom, alternativeUuid }: SystemSummary, bmc: BMC): Record<string, string> {
  return {
    ...labelNoteOf(bmc),
    ...(uuidDerivedFrom === undefined ? {} : { [identityDerivedAnnotation]: uuidDerivedFrom }),
    ...(alternativeUuid === undefined ? {} : { [alternativeUuidAnnotation]: alternativeUuid }),
  };
}
