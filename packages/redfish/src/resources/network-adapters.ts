import type { Bmc, CallOptions } from '../http/bmc.ts';
import {
  chassis as chassisResource,
  networkCard,
  networkDeviceFunction,
  reference,
  type SystemResource,
} from '../schemas.ts';
import { pathOf } from '../endpoint.ts';
import { readMembers } from './collections.ts';
import { macAddressOf, type NetworkInterface, onePerAddress, withUniqueNames } from './ethernet-interfaces.ts';
import { mapConcurrently } from './members.ts';
import type { PartReader } from './part-reader.ts';

const part = 'network adapters';
/** More network cards than any machine has. */
const maxCards = 64;

/**
 * The network interfaces of a system whose EthernetInterfaces have no addresses: the functions of its network cards, which the
 * system lists as NetworkInterfaces, or its chassis as NetworkAdapters.
 */
export async function readAdapterInterfaces(
  bmc: Bmc,
  system: SystemResource,
  parts: PartReader,
  options: CallOptions,
): Promise<NetworkInterface[]> {
  const list = { ...options, maxMembers: maxCards };
  const cardsAt = (path: string | undefined) =>
    parts.read(part, path, (at, onUnreadable) => readMembers(bmc, at, networkCard, { ...list, onUnreadable }));
  const ofSystem = await cardsAt(system.NetworkInterfaces);
  const cards = ofSystem.length > 0 ? ofSystem : await inEachChassis(bmc, system, { parts, options, cardsAt });
  const functions = await mapConcurrently(cards, ({ NetworkDeviceFunctions }) =>
    parts.read(part, NetworkDeviceFunctions, (at, onUnreadable) =>
      readMembers(bmc, at, networkDeviceFunction, { ...list, onUnreadable }),
    ),
  );
  const interfaces = functions
    .flat()
    .filter(({ Status }) => Status.State !== 'Absent')
    .map(({ Id, Name, Ethernet }) => ({
      id: Id,
      name: Name,
      macAddress: macAddressOf(Ethernet.PermanentMACAddress) ?? macAddressOf(Ethernet.MACAddress),
      speedMbps: undefined,
    }));
  return withUniqueNames(onePerAddress(interfaces.filter(({ macAddress }) => macAddress !== undefined)));
}

type Card = { readonly NetworkDeviceFunctions: string | undefined };

/** Only of a system that is alone in its chassis can the cards of the chassis be told to be its own. */
async function inEachChassis(
  bmc: Bmc,
  { Links }: SystemResource,
  {
    parts,
    options,
    cardsAt,
  }: {
    readonly parts: PartReader;
    readonly options: CallOptions;
    readonly cardsAt: (path: string | undefined) => Promise<Card[]>;
  },
): Promise<Card[]> {
  const paths = Links.Chassis.flatMap((entry) => reference.safeParse(entry).data?.['@odata.id'] ?? []);
  const found = await mapConcurrently([...new Set(paths.map(pathOf))], (path) =>
    parts.read(part, path, async (at) => {
      const { Links: links, NetworkAdapters } = await bmc.get(at, chassisResource, options);
      return links.ComputerSystems.length > 1 ? [] : cardsAt(NetworkAdapters);
    }),
  );
  return found.flat();
}
