import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { Store, type Indexes } from '@metal/kube/cache/store.ts';
import { machineIndexes } from '../src/machines.ts';

/** For tests: empty caches with the indexes of `watchMachineKinds`. */
export const machineStores = () => ({
  servers: indexedStore<Server>(machineIndexes.servers),
  inventories: indexedStore<ServerInventory>(machineIndexes.inventories),
  endpoints: indexedStore<Endpoint>(machineIndexes.endpoints),
  bmcs: indexedStore<BMC>(machineIndexes.bmcs),
  bootConfigurations: new Store<ServerBootConfiguration>(),
});

export function indexedStore<T extends KubeObject>(indexes: Indexes<T>): Store<T> {
  const store = new Store<T>();
  store.addIndexes(indexes);
  return store;
}
