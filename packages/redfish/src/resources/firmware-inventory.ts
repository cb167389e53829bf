import type { Bmc } from '../http/bmc.ts';
import { pathOf } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import { reference } from '../schemas.ts';
import { softwareInventory, type SoftwareInventoryResource, updateService } from '../update-schemas.ts';
import { listMembers } from './collections.ts';
import { isLinkOnly, type Member, type MemberOptions, resolveAll, undefinedIfMissing } from './members.ts';
import { byUri } from './systems.ts';

/** A firmware of the machine: a member of FirmwareInventory. */
export interface FirmwareComponent {
  readonly id: string;
  /** `@odata.id`. */
  readonly uri: string;
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly manufacturer: string | undefined;
  /** Undefined when the BMC does not tell. */
  readonly updateable: boolean | undefined;
  /** Written, and active only after a reset. */
  readonly isStaged: boolean;
  /** A second copy, or one for a rollback: it does not run, and an update leaves its version as it is. */
  readonly isCopy: boolean;
  /** The vendor's identifier of all devices that take the same image. */
  readonly softwareId: string | undefined;
  /** Paths of the devices that run it. */
  readonly relatedItems: readonly string[];
  /** Undefined for the firmware of any other device. */
  readonly kind: 'BIOS' | 'BMC' | undefined;
}

const maxComponents = 1_000;
const maxRelatedItems = 100;

export interface FirmwareInventoryOptions extends MemberOptions {
  /** Members that are read one by one, where the BMC does not embed them; the others are left out. All by default. */
  readonly maxReads?: number | undefined;
}

/**
 * The firmware of the machine, in the order of the identifiers. Empty when the BMC has no such inventory. An unreadable member is
 * left out and reported to `onUnreadable`, like one beyond `maxReads`; when all are unreadable, the call fails.
 */
export async function readFirmwareInventory(
  bmc: Bmc,
  { onUnreadable = () => undefined, maxReads = maxComponents, ...options }: FirmwareInventoryOptions = {},
): Promise<FirmwareComponent[]> {
  const { UpdateService } = await bmc.root(options);
  if (UpdateService === undefined) return [];
  const service = await bmc.get(UpdateService, updateService, options).catch(undefinedIfMissing);
  const FirmwareInventory = service?.FirmwareInventory;
  if (FirmwareInventory === undefined) return [];
  const list = { ...options, maxMembers: maxComponents, onUnreadable };
  const members = await listMembers(bmc, FirmwareInventory, list).catch(undefinedIfMissing);
  if (members === undefined) return [];
  const kept = withReads(members, maxReads);
  for (const { '@odata.id': path } of members.filter((member) => !kept.includes(member)))
    onUnreadable({ path, error: notRead(path, maxReads) });
  const call = { ...list, isSideResource: options.isSideResource ?? kept.length > 1 };
  const resources = await resolveAll(bmc, kept, softwareInventory, call);
  const present = resources.filter(({ Status }) => Status.State !== 'Absent');
  return present.map(componentOf).toSorted((a, b) => byUri(a.id, b.id));
}

function withReads(members: readonly Member[], maxReads: number): readonly Member[] {
  const links = new Set(members.filter(isLinkOnly).slice(0, maxReads));
  return members.filter((member) => links.has(member) || !isLinkOnly(member));
}

const notRead = (path: string, maxReads: number): RedfishError =>
  new RedfishError({ code: 'NotSupported', message: `${path}: not read, as only ${maxReads} members are` });

function componentOf(resource: SoftwareInventoryResource): FirmwareComponent {
  const uri = pathOf(resource['@odata.id']);
  const id = resource.Id ?? uri.split('/').at(-1) ?? uri;
  const words = `${id} ${resource.Name ?? ''}`.replaceAll(/[_:.-]/g, ' ');
  const isCopy = copyName.test(words);
  const relatedItems = resource.RelatedItem.slice(0, maxRelatedItems).flatMap((item) => {
    const link = reference.safeParse(item).data?.['@odata.id'];
    return link === undefined ? [] : [pathOf(link)];
  });
  return {
    id: limited(id),
    uri,
    name: limited(resource.Name),
    version: limited(resource.Version),
    manufacturer: limited(resource.Manufacturer),
    updateable: resource.Updateable,
    isStaged: resource.Staged === true || stagedId.test(id),
    isCopy,
    softwareId: limited(resource.SoftwareId),
    relatedItems,
    kind: isCopy ? undefined : kindOf(words, relatedItems),
  };
}

const longestText = 256;

/** A copy: components are kept, and a slice would keep the whole response in memory (V8). */
const limited = <T extends string | undefined>(text: T): T | string =>
  text !== undefined && text.length > longestText ? Buffer.from(text.slice(0, longestText)).toString() : text;

/** Lenovo `UEFI-Pending`, Supermicro `Staged_BIOS`: entries of their own. */
const stagedId = /(?:^|[-_])(?:staged|pending)(?:$|[-_])/i;

/** Names and identifiers of the vendors, for BMCs that do not relate the firmware to a resource. */
const biosName = /\b(?:BIOS|UEFI|System ROM)\b/i;
const bmcName = /\b(?:BMC|iDRAC|iLO|XClarity Controller|Integrated Dell Remote Access Controller)\b/i;
const copyName = /\b(?:previous|backup|golden|redundant|rollback)\b/i;

function kindOf(words: string, relatedItems: readonly string[]): 'BIOS' | 'BMC' | undefined {
  if (biosName.test(words) || relatedItems.some((path) => /\/Systems\/[^/]+\/Bios$/.test(path))) return 'BIOS';
  return bmcName.test(words) ? 'BMC' : undefined;
}
