import type * as z from 'zod';
import { parseResource } from '../http/parse-response.ts';
import type { Bmc, CallOptions } from '../http/bmc.ts';
import { requireAtMost, listMembers, maxMembers, readExpanded, readMembers } from './collections.ts';
import { pathOf } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import {
  forEachMember,
  isLinkOnly,
  mapConcurrently,
  type Member,
  type MemberOptions,
  referencesIn,
  resolve,
  resolveAll,
} from './members.ts';
import type { PartReader } from './part-reader.ts';
import { uniqueNames } from './unique-names.ts';
import {
  collection,
  drive,
  reference,
  simpleDevice,
  simpleStorage,
  storage,
  type StorageResource,
  type SystemResource,
  volume,
} from '../schemas.ts';

export interface Drive {
  readonly name: string | undefined;
  readonly mediaType: string | undefined;
  /** Form factor. */
  readonly type: string | undefined;
  readonly capacityBytes: number | undefined;
  readonly vendor: string | undefined;
  readonly model: string | undefined;
  readonly serialNumber?: string | undefined;
  readonly state: string | undefined;
}

export interface Volume {
  readonly name: string | undefined;
  readonly capacityBytes: number | undefined;
  readonly raidType: string | undefined;
  readonly state: string | undefined;
}

/** A storage controller with its drives and volumes. */
export interface StorageUnit {
  /** Unique among the controllers of the system. */
  readonly name: string | undefined;
  readonly drives: readonly Drive[];
  readonly volumes: readonly Volume[];
}

/** `$expand` levels for controllers, their drives, and the volume collections with their members. */
const wholeTree = 3;
/** `$expand` levels for one controller with its drives and volumes. */
const oneController = 2;

/** The readable storage of a system. Older BMCs have only SimpleStorage; its devices are reported as drives. */
export function readStorages(
  bmc: Bmc,
  { Storage, SimpleStorage }: SystemResource,
  parts: PartReader,
  options: CallOptions,
): Promise<StorageUnit[]> {
  return parts.read('storage', Storage ?? SimpleStorage, async (_path, onUnreadable) => {
    const members = await listControllers(bmc, Storage, SimpleStorage !== undefined, { ...options, onUnreadable });
    if (members.length > 0 || SimpleStorage === undefined) {
      const controllers = await forEachMember(members, onUnreadable, (member) => controllerOf(bmc, member, options));
      return readUnits(bmc, controllers.filter(isPresent), parts, options);
    }
    return parts.read('simple storage', SimpleStorage, async (path, onUnit) =>
      simpleUnitsOf(await readMembers(bmc, path, simpleStorage, { ...options, onUnreadable: onUnit })),
    );
  });
}

/** Some BMCs with SimpleStorage link to a Storage collection that they do not have. */
async function listControllers(
  bmc: Bmc,
  path: string | undefined,
  hasSubstitute: boolean,
  options: MemberOptions,
): Promise<Member[]> {
  if (path === undefined) return [];
  try {
    return await listMembers(bmc, path, { ...options, levels: wholeTree });
  } catch (error) {
    const isAbsent = error instanceof RedfishError && (error.code === 'NotFound' || error.code === 'NotSupported');
    if (hasSubstitute && isAbsent) return [];
    throw error;
  }
}

/** Reads the drives and volumes of controllers. Their total is limited, and each is read once, whoever links to it. */
async function readUnits(
  bmc: Bmc,
  controllers: readonly StorageResource[],
  parts: PartReader,
  options: CallOptions,
): Promise<StorageUnit[]> {
  let count = 0;
  const countMembers = <T>(entries: readonly T[], of: string): readonly T[] => {
    count += entries.length;
    requireAtMost(maxMembers, 'drives and volumes of all controllers', count, of);
    return entries;
  };
  const names = uniqueNames(
    controllers.map(({ Name, Id, '@odata.id': path }) => [Name, Id, pathOf(path).split('/').at(-1)]),
  );
  const readDrive = driveReader(bmc, options);
  return mapConcurrently([...controllers.entries()], async ([index, controller]) => {
    const path = pathOf(controller['@odata.id']);
    const name = names[index];
    const [drives, volumes] = await Promise.all([
      parts.read(`drives of ${name ?? path}`, path, async (_path, onUnreadable) => {
        const links = referencesIn(countMembers(controller.Drives, path), `${path}#/Drives`, onUnreadable);
        return forEachMember([...links.values()], onUnreadable, readDrive);
      }),
      parts.read(`volumes of ${name ?? path}`, path, async (_path, onUnreadable) => {
        const members = countMembers(await listVolumes(bmc, controller.Volumes, { ...options, onUnreadable }), path);
        return resolveAll(bmc, members, volume, { ...options, onUnreadable });
      }),
    ]);
    return { name, drives: drives.filter(isPresent).map(driveOf), volumes: volumes.filter(isPresent).map(volumeOf) };
  });
}

type DriveResource = z.output<typeof drive>;

/** Controllers with two paths to a drive both link to it. */
function driveReader(bmc: Bmc, options: CallOptions): (member: Member) => Promise<DriveResource> {
  const reads = new Map<string, Promise<DriveResource>>();
  return (member) => {
    const path = pathOf(member['@odata.id']);
    const read = reads.get(path) ?? resolve(bmc, member, drive, options);
    reads.set(path, read);
    return read;
  };
}

/** Empty bays and sockets are listed as parts. */
const isPresent = ({ Status }: { readonly Status: StorageResource['Status'] }): boolean => Status.State !== 'Absent';

/** A controller whose drives are not embedded is read again with `$expand`: one request instead of one per drive. */
async function controllerOf(bmc: Bmc, member: Member, options: CallOptions): Promise<StorageResource> {
  const path = pathOf(member['@odata.id']);
  const embedded = isLinkOnly(member) ? undefined : parseResource(storage, member, path);
  const linkCount = embedded?.Drives.filter((entry) => entry instanceof Object && isLinkOnly(entry)).length ?? 2;
  if (embedded !== undefined && linkCount < 2) return embedded;
  return (await readExpanded(bmc, path, storage, { ...options, levels: oneController })).value;
}

/** Volumes are a collection: embedded with its members, embedded with links, or a link itself. */
async function listVolumes(bmc: Bmc, volumes: unknown, options: MemberOptions): Promise<Member[]> {
  const { data } = reference.safeParse(volumes);
  if (data === undefined) return [];
  const path = pathOf(data['@odata.id']);
  const embedded = isLinkOnly(data) ? undefined : parseResource(collection, data, path);
  const isWhole =
    embedded?.['Members@odata.nextLink'] === undefined &&
    embedded?.Members.every((entry) => entry instanceof Object && !isLinkOnly(entry)) === true;
  if (!isWhole) return listMembers(bmc, path, options);
  return [...referencesIn(embedded?.Members ?? [], `${path}#/Members`, options.onUnreadable).values()];
}

const driveOf = (item: z.output<typeof drive>): Drive => ({
  name: item.Name,
  mediaType: item.MediaType,
  type: item.DriveFormFactor,
  capacityBytes: item.CapacityBytes,
  vendor: item.Manufacturer,
  model: item.Model,
  serialNumber: item.SerialNumber,
  state: item.Status.State,
});

const volumeOf = (item: z.output<typeof volume>): Volume => ({
  name: item.Name,
  capacityBytes: item.CapacityBytes,
  raidType: item.RAIDType,
  state: item.Status.State,
});

/** Devices are not resources; an entry that is no object is ignored. */
function simpleUnitsOf(units: readonly z.output<typeof simpleStorage>[]): StorageUnit[] {
  const present = units.filter(isPresent);
  const names = uniqueNames(present.map(({ Name, Id }) => [Name, Id]));
  return present.map(({ Devices }, index) => ({
    name: names[index],
    volumes: [],
    drives: Devices.flatMap((device) => simpleDevice.safeParse(device).data ?? [])
      .filter(isPresent)
      .map((device) => ({
        name: device.Name,
        mediaType: undefined,
        type: undefined,
        capacityBytes: device.CapacityBytes,
        vendor: device.Manufacturer,
        model: device.Model,
        serialNumber: undefined,
        state: device.Status.State,
      })),
  }));
}
