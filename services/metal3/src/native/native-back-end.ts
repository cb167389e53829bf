import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { fieldManagerOf } from '@metal/kube/client/field-managers.ts';
import { keyOf, type KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { parseBmcAddress } from '../bmc/parse-bmc-address.ts';
import type { BackEnd, HostAccess } from '../provisioner/back-end.ts';
import type { NodeServices } from '../provisioner/node-services.ts';
import type { Provisioner } from '../provisioner/provisioner.ts';
import { hostKeyOf, type NativeCaches } from './host-objects.ts';
import { NativeNodeServices } from './native-services.ts';
import { NativeProvisioner } from './native-provisioner.ts';

export interface NativeOptions {
  readonly client: KubeClient;
  readonly caches: NativeCaches;
  /** Erasure of Servers without a policy of their own. */
  readonly fleetDisks: string;
  /** The operator reads the firmware of machines: --publish-firmware. */
  readonly publishesFirmware: boolean;
  readonly clock: Clock;
}

/** The operator itself as a back end: hosts become BMCs, Servers and ServerClaims. */
export class NativeBackEnd implements BackEnd {
  readonly name = 'native';
  readonly servicesAreCheap = true;
  readonly #client: KubeClient;
  readonly #options: Omit<NativeOptions, 'client'>;

  constructor({ client, ...options }: NativeOptions) {
    this.#client = client.withFieldManager(fieldManagerOf('metal3-native'));
    this.#options = options;
  }

  async provisionerOf(access: HostAccess): Promise<Provisioner> {
    const parsed = parseBmcAddress(access.host.spec.bmc?.address ?? '');
    const { caches, fleetDisks, clock } = this.#options;
    return new NativeProvisioner({ access, client: this.#client, caches, parsed, fleetDisks, clock });
  }

  /** Changes of the objects that hosts are mapped to. */
  onChange(enqueue: (hostKey: string) => void): Disposable {
    const { hosts, bmcs, servers, claims, inventories, ...firmware } = this.#options.caches;
    const stack = new DisposableStack();
    const follow = <T extends KubeObject>(cache: Cache<T>, keysOf: (object: T) => Iterable<string | undefined>) =>
      stack.use(
        cache.onChange(({ before, after }) => {
          const keys = [before, after].flatMap((object) => (object === undefined ? [] : [...keysOf(object)]));
          for (const key of new Set(keys)) if (key !== undefined) enqueue(key);
        }),
      );
    const ofBmc = (name = '') => hosts.by('bmc', name).map(({ metadata }) => keyOf(metadata));
    follow(servers, (server) => [hostKeyOf(server), ...ofBmc(server.spec.bmcRef?.name)]);
    follow(inventories, ({ metadata }) =>
      [servers.get(metadata.name)].flatMap((server) => (server ? [hostKeyOf(server)] : [])),
    );
    follow(bmcs, ({ metadata }) => [
      ...ofBmc(metadata.name),
      ...[...servers.all()].filter(({ spec }) => spec.bmcRef?.name === metadata.name).map(hostKeyOf),
    ]);
    follow(claims, (claim) => [hostKeyOf(claim)]);
    follow(firmware.biosSettings, (object) => [hostKeyOf(object)]);
    follow(firmware.biosVersions, (object) => [hostKeyOf(object)]);
    follow(firmware.bmcVersions, (object) => [hostKeyOf(object)]);
    follow(firmware.firmwareVersions, (object) => [hostKeyOf(object)]);
    return stack;
  }

  async servicesOf(host: BareMetalHost): Promise<NodeServices> {
    return new NativeNodeServices(host, { client: this.#client, ...this.#options });
  }
}
