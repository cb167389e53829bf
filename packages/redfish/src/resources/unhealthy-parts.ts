import * as z from 'zod';
import type { Bmc, CallOptions } from '../http/bmc.ts';
import { RedfishError } from '../errors.ts';
import { anyPart, chassis, chassisParts, collection, reference, storage, type SystemResource } from '../schemas.ts';
import { readExpanded } from './collections.ts';
import { healthReportOf, nameOf, type UnhealthyPart, worstFirst } from './health.ts';
import { concernsOneResource, isLinkOnly } from './members.ts';
import { readSystemResource, type SystemCallOptions } from './systems.ts';

/** Requests for the parts of one machine. */
export const maxHealthRequests = 24;
/** A blade and its enclosure; further chassis are cards and drive bays. */
const maxChassis = 2;

export interface UnhealthyParts {
  /** Worst first. */
  readonly parts: readonly UnhealthyPart[];
  /** False if the reading ended early: because of an error, or because the signal was aborted. */
  readonly isComplete: boolean;
}

/**
 * The parts of a system that are not OK: power supplies, fans, temperatures, storage, memory, processors. At most
 * `maxHealthRequests` reads, one after the other, behind everything else that the BMC is asked for. Parts that cannot be
 * read, or would need more requests, are left out. Any other error ends the reading and is not thrown: BMCs that work
 * otherwise take long for sensors, or answer 503 for them.
 */
export async function readUnhealthyParts(
  bmc: Bmc,
  uri: string,
  options: SystemCallOptions = {},
): Promise<UnhealthyParts> {
  const telemetry = { ...options, priority: 'telemetry' } as const;
  const reader = new PartsReader(bmc, { ...telemetry, isSideResource: true });
  const system = await reader.spend(() => readSystemResource(bmc, uri, telemetry));
  if (system === undefined) return { parts: [], isComplete: false };
  const { causes } = healthReportOf(system.value.Status);
  const parts = worstFirst(causes.length > 0 ? causes : await reader.read(system.value));
  return { parts, isComplete: reader.isComplete };
}

class PartsReader {
  readonly #bmc: Bmc;
  readonly #options: CallOptions;
  #requestsLeft = maxHealthRequests;
  isComplete = true;

  constructor(bmc: Bmc, options: CallOptions) {
    this.#bmc = bmc;
    this.#options = options;
  }

  async read({ Links, Storage, Memory, Processors, ...summaries }: SystemResource): Promise<UnhealthyPart[]> {
    const { MemorySummary, ProcessorSummary } = summaries;
    const found: UnhealthyPart[] = [];
    for (const path of linksIn(Links.Chassis).slice(0, maxChassis)) found.push(...(await this.#inChassis(path)));
    found.push(...(await this.#inStorage(Storage)));
    if (!isOk(MemorySummary)) found.push(...(await this.#inCollection(Memory)));
    if (!isOk(ProcessorSummary)) found.push(...(await this.#inCollection(Processors)));
    return found;
  }

  async #inChassis(path: string): Promise<UnhealthyPart[]> {
    const links = await this.#get(path, chassis);
    const found: UnhealthyPart[] = [];
    for (const part of [links?.PowerSubsystem ?? links?.Power, links?.ThermalSubsystem ?? links?.Thermal]) {
      const parts = part === undefined ? undefined : await this.#get(part, chassisParts);
      found.push(...unhealthyIn(parts?.Temperatures ?? []));
      for (const list of [parts?.PowerSupplies, parts?.Fans])
        found.push(...(Array.isArray(list) ? unhealthyIn(list) : await this.#inCollection(linksIn([list])[0])));
    }
    return found;
  }

  /** The controllers, and the drives of those that are not OK. */
  async #inStorage(path: string | undefined): Promise<UnhealthyPart[]> {
    const found: UnhealthyPart[] = [];
    for (const controller of await this.#members(path)) {
      const { data } = storage.safeParse(controller);
      if (data === undefined || healthReportOf(data.Status).level === 'OK') continue;
      const drives = unhealthyIn(await this.#resolved(data.Drives));
      // A controller that rolls up the health of its drives is not a cause of its own.
      found.push(...(drives.length > 0 ? drives : unhealthyIn([controller])));
    }
    return found;
  }

  #inCollection = async (path: string | undefined): Promise<UnhealthyPart[]> => unhealthyIn(await this.#members(path));

  async #members(path: string | undefined): Promise<unknown[]> {
    if (path === undefined) return [];
    const read = () => readExpanded(this.#bmc, path, collection, this.#options);
    const page = await this.spend(read);
    return this.#resolved(page?.value.Members ?? []);
  }

  /** Members that are links are read while requests are left. */
  async #resolved(members: readonly unknown[]): Promise<unknown[]> {
    const resolved: unknown[] = [];
    for (const member of members) {
      const { data } = reference.safeParse(member);
      if (data === undefined) continue;
      resolved.push(isLinkOnly(data) ? await this.#get(data['@odata.id'], z.unknown()) : member);
    }
    return resolved;
  }

  #get<S extends z.ZodType>(path: string, schema: S): Promise<z.output<S> | undefined> {
    return this.spend(() => this.#bmc.get(path, schema, this.#options));
  }

  /** Undefined if the read fails, or may not be sent: none is after an error that does not concern one resource alone. */
  async spend<T>(read: () => Promise<T>): Promise<T | undefined> {
    if (this.#requestsLeft === 0) return undefined;
    this.#requestsLeft -= 1;
    try {
      return await read();
    } catch (error) {
      const isOnePart = concernsOneResource(error) || (error instanceof RedfishError && error.code === 'Forbidden');
      if (isOnePart) return undefined;
      if (!(error instanceof RedfishError) && this.#options.signal?.aborted !== true) throw error;
      this.#requestsLeft = 0;
      this.isComplete = false;
      return undefined;
    }
  }
}

const isOk = ({ Status }: { readonly Status: SystemResource['Status'] }): boolean =>
  healthReportOf(Status).level === 'OK';

const linksIn = (values: readonly unknown[]): string[] =>
  values.flatMap((value) => reference.safeParse(value).data?.['@odata.id'] ?? []);

function unhealthyIn(parts: readonly unknown[]): UnhealthyPart[] {
  return parts.flatMap((each) => {
    const { data } = anyPart.safeParse(each);
    const health = data === undefined ? undefined : healthReportOf(data.Status).level;
    if (data === undefined || health === undefined || health === 'OK' || data.Status.State === 'Absent') return [];
    const lastSegment = data['@odata.id']?.split('/').at(-1);
    return [{ name: nameOf(data.Name ?? data.Id ?? data.MemberId ?? lastSegment ?? 'a part'), health }];
  });
}
