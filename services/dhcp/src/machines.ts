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

/** All but the boot configurations have the index `macAddress`, in the form of `macOf`. */
export interface MachineCaches {
  readonly servers: Cache<Server>;
  readonly inventories: Cache<ServerInventory>;
  readonly endpoints: Cache<Endpoint>;
  readonly bmcs: Cache<BMC>;
  readonly bootConfigurations: Cache<ServerBootConfiguration>;
}

/** Many machines request addresses at the same time; a lookup by MAC address must not scan the fleet. */
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

/** The watches of the DHCP service; called before the caches start. */
export function watchMachineKinds(caches: CacheSet): MachineCaches {
  return {
    servers: caches.watch(Server, { indexes: machineIndexes.servers }),
    inventories: caches.watch(ServerInventory, { indexes: machineIndexes.inventories }),
    endpoints: caches.watch(Endpoint, { indexes: machineIndexes.endpoints }),
    bmcs: caches.watch(BMC, { indexes: machineIndexes.bmcs }),
    bootConfigurations: caches.watch(ServerBootConfiguration),
  };
}

/** The DHCP reply to a machine. */
export interface DhcpReply {
  /** The boot configuration whose UKI it boots, if any. */
  readonly boot: ServerBootConfiguration | undefined;
}

/** Undefined for an unknown machine, which gets a reply only by its MAC prefix. */
export function replyFor(mac: string, caches: MachineCaches): DhcpReply | undefined {
  const owners = serversWith(mac, caches);
  if (owners.length === 0 && caches.endpoints.by('macAddress', mac).length === 0) return undefined;
  // If two servers have the address, the machine gets the boot file of neither.
  const [server] = owners.length === 1 ? owners : [];
  return { boot: server && preparedBootOf(server, caches.bootConfigurations) };
}

/** The servers whose network cards have the address, as their probes last reported them. */
export function serversWith(mac: string, { servers, inventories }: MachineCaches): Server[] {
  const matches = [...servers.by('macAddress', mac), ...inventories.by('macAddress', mac)];
  return [...new Set(matches.map(({ metadata }) => metadata.name))].flatMap((name) => servers.get({ name }) ?? []);
}

/** The MAC addresses of all known machines. */
export function macAddressesOf({ servers, inventories, endpoints }: MachineCaches): Set<string> {
  return new Set([
    ...macAddressesIn(machineIndexes.endpoints, endpoints.all()),
    ...macAddressesIn(machineIndexes.servers, servers.all()),
    ...macAddressesIn(machineIndexes.inventories, inventories.all()),
  ]);
}

/** Calls back with each MAC address whose reply may have changed. */
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
      // An inventory has the name of its server.
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

/** Written by the boot service; the CRD of another boot operator has no such field. */
const decidedBoot = z.object({ boot: z.object({ method: z.string() }) });

const bootsUki = ({ status }: ServerBootConfiguration): boolean =>
  decidedBoot.safeParse(status).data?.boot.method === 'UefiHttp';

/**
 * The prepared UKI boot of a machine. The boot service decides at each request whether the machine may load it: an installed
 * machine gets an error and continues with its next boot device.
 */
function preparedBootOf(server: Server, boots: Cache<ServerBootConfiguration>): ServerBootConfiguration | undefined {
  const ref = currentBootRef(server);
  const boot = ref && boots.get(ref);
  if (boot === undefined || boot.metadata.deletionTimestamp !== undefined) return undefined;
  const isPrepared = boot.status?.state === 'Ready' && boot.spec.serverRef.name === server.metadata.name;
  return isPrepared && bootsUki(boot) ? boot : undefined;
}
