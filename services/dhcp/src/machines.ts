import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { currentBootRef } from '@metal/api/wire/current-boot.ts';
import type { Cache } from '@metal/kube/cache.ts';
import * as z from 'zod';
import { macOf } from './mac-address.ts';

export interface MachineCaches {
  readonly servers: Cache<Server>;
  readonly inventories: Cache<ServerInventory>;
  readonly endpoints: Cache<Endpoint>;
  readonly bootConfigurations: Cache<ServerBootConfiguration>;
}

/** Every machine that is answered, by MAC address, with the boot configuration of the UKI that it is to boot, if any. */
export type Machines = ReadonlyMap<string, ServerBootConfiguration | undefined>;

export function machinesOf(caches: MachineCaches): Machines {
  const machines = new Map<string, ServerBootConfiguration | undefined>();
  for (const { spec } of caches.endpoints.all()) {
    const mac = macOf(spec?.macAddress);
    if (mac !== undefined) machines.set(mac, undefined);
  }
  for (const [mac, owners] of serversByMac(caches)) {
    // Of two servers with one address nobody knows whose orders the machine would get.
    const [server] = owners.length === 1 ? owners : [];
    machines.set(mac, server && ordersOf(server, caches.bootConfigurations));
  }
  return machines;
}

/** The servers whose network cards have the address: as their probes last saw them. */
export function serversByMac({ servers, inventories }: Pick<MachineCaches, 'servers' | 'inventories'>) {
  const found = new Map<string, Server[]>();
  for (const server of servers.all()) {
    const report = inventories.get({ name: server.metadata.name })?.spec.report;
    const texts = [
      ...(server.status?.networkInterfaces ?? []).map(({ macAddress }) => macAddress),
      ...(report?.networkInterfaces ?? []).map(({ macAddress }) => macAddress),
      ...(report?.nics ?? []).map(({ mac }) => mac),
    ];
    for (const mac of new Set(texts.map((text) => macOf(text))))
      if (mac !== undefined) found.set(mac, [...(found.get(mac) ?? []), server]);
  }
  return found;
}

/** What the boot service decided; the field is not part of the kind where no boot service decides. */
const decidedBoot = z.object({ boot: z.object({ method: z.string() }) });

const asksForUki = ({ status }: ServerBootConfiguration): boolean =>
  decidedBoot.safeParse(status).data?.boot.method === 'UefiHttp';

/**
 * The boot that a machine is to be led to. Whether it may load it now, the boot service decides when it asks: an installed
 * machine is sent there and turned away, and goes to its next boot device.
 */
function ordersOf(server: Server, boots: Cache<ServerBootConfiguration>): ServerBootConfiguration | undefined {
  const ref = currentBootRef(server);
  const boot = ref && boots.get(ref);
  if (boot === undefined || boot.metadata.deletionTimestamp !== undefined) return undefined;
  const isPrepared = boot.status?.state === 'Ready' && boot.spec.serverRef.name === server.metadata.name;
  return isPrepared && asksForUki(boot) ? boot : undefined;
}
