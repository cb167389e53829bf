import * as z from 'zod';
import type { Bmc, CallOptions } from './bmc.ts';
import { isLinkOnly, listMembers, type Members, readExpanded, readMembers, resolveAll } from './collections.ts';
import type { PartReader } from './inventory.ts';
import {
  collection,
  drive,
  simpleStorage,
  storage,
  type StorageResource,
  type SystemResource,
  volume,
} from './schemas.ts';

export interface Drive {
  readonly name: string | undefined;
  readonly mediaType: string | undefined;
  /** Form factor. */
  readonly type: string | undefined;
  readonly capacityBytes: number | undefined;
  readonly vendor: string | undefined;
  readonly model: string | undefined;
  readonly state: string | undefined;
}

export interface Volume {
  readonly name: string | undefined;
  readonly capacityBytes: number | undefined;
  readonly raidType: string | undefined;
  readonly state: string | undefined;
}

/** A controller and what hangs on it. */
export interface StorageUnit {
  readonly name: string | undefined;
  readonly drives: readonly Drive[];
  readonly volumes: readonly Volume[];
}

/** Controllers, their drives, and the volumes with their members: what one request brings where the BMC goes so deep. */
const wholeTree = 3;
/** One controller with its drives and volumes. */
const oneController = 2;

/** Storage as far as it can be read. Older BMCs know only SimpleStorage; its devices are drives. */
export async function readStorages(
  bmc: Bmc,
  { Storage, SimpleStorage }: SystemResource,
  part: PartReader,
  options: CallOptions,
): Promise<StorageUnit[]> {
  const units = await part('storage', () => readControllers(bmc, Storage, part, options));
  if (units.length > 0 || SimpleStorage === undefined) return units;
  return part('simple storage', async () =>
    (await readMembers(bmc, SimpleStorage, simpleStorage, options)).map(simpleUnitOf),
  );
}

async function readControllers(
  bmc: Bmc,
  path: string | undefined,
  part: PartReader,
  options: CallOptions,
): Promise<StorageUnit[]> {
  if (path === undefined) return [];
  const members = await listMembers(bmc, path, options, wholeTree);
  return Promise.all(
    members.map(async (member) => unitOf(bmc, await controllerOf(bmc, member, options), part, options)),
  );
}

/** A controller that came without its drives is asked for with them; that is one request instead of one per drive. */
async function controllerOf(bmc: Bmc, member: Members[number], options: CallOptions): Promise<StorageResource> {
  const came = isLinkOnly(member) ? undefined : storage.parse(member);
  const linked = came === undefined ? 2 : membersIn(came.Drives).filter(isLinkOnly).length;
  return came !== undefined && linked < 2
    ? came
    : readExpanded(bmc, member['@odata.id'], storage, options, oneController);
}

async function unitOf(
  bmc: Bmc,
  controller: StorageResource,
  part: PartReader,
  options: CallOptions,
): Promise<StorageUnit> {
  const name = controller.Name ?? controller.Id;
  const of = name ?? controller['@odata.id'];
  const [drives, volumes] = await Promise.all([
    part(`drives of ${of}`, () => resolveAll(bmc, membersIn(controller.Drives), drive, options)),
    part(`volumes of ${of}`, () => readVolumes(bmc, controller.Volumes, options)),
  ]);
  return { name, drives: drives.map(driveOf), volumes: volumes.map(volumeOf) };
}

/** Volumes are a collection, which came along as a whole, with links to its members, or as a link itself. */
async function readVolumes(bmc: Bmc, volumes: unknown, options: CallOptions): Promise<z.output<typeof volume>[]> {
  const { success, data } = reference.safeParse(volumes);
  if (!success) return [];
  const came = isLinkOnly(data) ? undefined : collection.parse(data);
  const isWhole = came?.['Members@odata.nextLink'] === undefined && came?.Members.every((one) => !isLinkOnly(one));
  return isWhole === true
    ? resolveAll(bmc, came?.Members ?? [], volume, options)
    : readMembers(bmc, data['@odata.id'], volume, options);
}

const reference = z.looseObject({ '@odata.id': z.string() });

const membersIn = (entries: readonly unknown[]): Members =>
  entries.flatMap((entry) => {
    const parsed = reference.safeParse(entry);
    return parsed.success ? [parsed.data] : [];
  });

const driveOf = (item: z.output<typeof drive>): Drive => ({
  name: item.Name,
  mediaType: item.MediaType,
  type: item.DriveFormFactor,
  capacityBytes: item.CapacityBytes,
  vendor: item.Manufacturer,
  model: item.Model,
  state: item.Status.State,
});

const volumeOf = (item: z.output<typeof volume>): Volume => ({
  name: item.Name,
  capacityBytes: item.CapacityBytes,
  raidType: item.RAIDType,
  state: item.Status.State,
});

function simpleUnitOf({ Name, Devices }: z.output<typeof simpleStorage>): StorageUnit {
  return {
    name: Name,
    volumes: [],
    drives: (Devices ?? []).map((device) => ({
      name: device.Name,
      mediaType: undefined,
      type: undefined,
      capacityBytes: device.CapacityBytes,
      vendor: device.Manufacturer,
      model: device.Model,
      state: device.Status.State,
    })),
  };
}
