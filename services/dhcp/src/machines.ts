import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { currentBootRef } from '@metal/api/wire/current-boot.ts';
import type { CacheSet } from '@metal/kube/cache/cache.ts';
import * as z from 'zod';
import type { Cache } from '@metal/kube/cache/store.ts';
import { macOf } from './mac-address.ts';

/** All but the boot configurations are filed by `macAddress`, written as `macOf` does. */
export interface MachineCaches {
  readonly servers: Cache<Server>;
  readonly inventories: Cache<ServerInventory>;
  readonly endpoints: Cache<Endpoint>;
  readonly bmcs: Cache<BMC>;
  readonly bootConfigurations: Cache<ServerBootConfiguration>;
}

/** A machine asks by its MAC address, and a hall of them at once: nobody looks through the fleet for each. */
export const machineIndexes = {
  servers: {
    macAddress: ({ status }: Server) => macsIn(status?.networkInterfaces?.map(({ macAddress }) => macAddress)),
  },
  inventories: {
    macAddress: ({ spec: { report } }: ServerInventory) =>
      macsIn([
        ...(report.networkInterfaces ?? []).map(({ macAddress }) => macAddress),
        ...(report.nics ?? []).map(({ mac }) => mac),
      ]),
  },
  endpoints: { macAddress: ({ spec }: Endpoint) => macsIn([spec?.macAddress]) },
  bmcs: { macAddress: ({ spec }: BMC) => macsIn([spec?.access?.macAddress]) },
};

/** Declares what DHCP has to know; to be called before the caches start. */
export function watchMachineKinds(caches: CacheSet): MachineCaches {
  return {
    servers: caches.watch(Server, { indexes: machineIndexes.servers }),
    inventories: caches.watch(ServerInventory, { indexes: machineIndexes.inventories }),
    endpoints: caches.watch(Endpoint, { indexes: machineIndexes.endpoints }),
    bmcs: caches.watch(BMC, { indexes: machineIndexes.bmcs }),
    bootConfigurations: caches.watch(ServerBootConfiguration),
  };
}

/** What is said to a machine that asks. */
export interface DhcpReply {
  /** The boot configuration of the UKI that it is to boot, if any. */
  readonly boot: ServerBootConfiguration | undefined;
}

/** Undefined for a machine that nobody knows: it is not answered, unless its prefix is. */
export function replyFor(mac: string, caches: MachineCaches): DhcpReply | undefined {
  const owners = serversWith(mac, caches);
  if (owners.length === 0 && caches.endpoints.by('macAddress', mac).length === 0) return undefined;
  // Of two servers with one address nobody knows whose orders the machine would get.
  const [server] = owners.length === 1 ? owners : [];
  return { boot: server && preparedBootOf(server, caches.bootConfigurations) };
}

/** The servers whose network cards have the address: as their probes last saw them. */
export function serversWith(mac: string, { servers, inventories }: MachineCaches): Server[] {
  const matches = [...servers.by('macAddress', mac), ...inventories.by('macAddress', mac)];
  return [...new Set(matches.map(({ metadata }) => metadata.name))].flatMap((name) => servers.get({ name }) ?? []);
}

/** Every MAC address that may be answered. */
export function macAddressesOf({ servers, inventories, endpoints }: MachineCaches): Set<string> {
  return new Set([
    ...macAddressesIn(machineIndexes.endpoints, endpoints.all()),
    ...macAddressesIn(machineIndexes.servers, servers.all()),
    ...macAddressesIn(machineIndexes.inventories, inventories.all()),
  ]);
}

/** Calls back with each MAC address to which the answer may have changed. */
export function onReplyChange(caches: MachineCaches, listener: (mac: string) => void): Disposable {
  const { servers, inventories, endpoints, bootConfigurations } = caches;
  const notify = <T>(index: MacAddressIndex<T>, ...objects: (T | undefined)[]) => {
    for (const mac of macAddressesIn(index, objects)) listener(mac);
  };
  const stack = new DisposableStack();
  stack.use(endpoints.onChange(({ before, after }) => notify(machineIndexes.endpoints, before, after)));
  stack.use(inventories.onChange(({ before, after }) => notify(machineIndexes.inventories, before, after)));
  stack.use(
    servers.onChange(({ key, before, after }) => {
      notify(machineIndexes.servers, before, after);
      // A report has the name of its server.
      notify(machineIndexes.inventories, inventories.get(key));
    }),
  );
  stack.use(
    bootConfigurations.onChange(({ before, after }) => {
      for (const boot of [before, after]) {
        if (boot === undefined) continue;
        notify(machineIndexes.servers, servers.get(boot.spec.serverRef));
        notify(machineIndexes.inventories, inventories.get(boot.spec.serverRef));
      }
    }),
  );
  return stack;
}

interface MacAddressIndex<T> {
  readonly macAddress: (object: T) => readonly string[];
}

function* macAddressesIn<T>({ macAddress }: MacAddressIndex<T>, objects: Iterable<T | undefined>) {
  for (const object of objects) if (object !== undefined) yield* macAddress(object);
}

const macsIn = (texts: readonly (string | undefined)[] = []): string[] => [
  ...new Set(texts.map((text) => macOf(text)).filter((mac) => mac !== undefined)),
];

/** What the boot service decided; the field is not part of the kind where no boot service decides. */
const decidedBoot = z.object({ boot: z.object({ method: z.string() }) });

const bootsUki = ({ status }: ServerBootConfiguration): boolean =>
  decidedBoot.safeParse(status).data?.boot.method === 'UefiHttp';

/**
 * The boot that a machine is to be led to. Whether it may load it now, the boot service decides when it asks: an installed
 * machine is sent there and turned away, and goes to its next boot device.
 */
function preparedBootOf(server: Server, boots: Cache<ServerBootConfiguration>): ServerBootConfiguration | undefined {
  const ref = currentBootRef(server);
  const boot = ref && boots.get(ref);
  if (boot === undefined || boot.metadata.deletionTimestamp !== undefined) return undefined;
  const isPrepared = boot.status?.state === 'Ready' && boot.spec.serverRef.name === server.metadata.name;
  return isPrepared && bootsUki(boot) ? boot : undefined;
}
