import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { provisionerAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { fieldManagerOf } from '@metal/kube/client/field-managers.ts';
import { keyOf, type KubeObject } from '@metal/kube/kinds/kind.ts';
import { parseBmcAddress } from '../bmc/parse-bmc-address.ts';
import type { BackEnd, HostAccess } from '../provisioner/back-end.ts';
import { type NodeServices, NotSupported } from '../provisioner/node-services.ts';
import type { Provisioner } from '../provisioner/provisioner.ts';
import { hostKeyOf, type NativeCaches } from './host-objects.ts';
import { NativeProvisioner } from './native-provisioner.ts';

/** The operator itself as a back end: hosts become BMCs, Servers and ServerClaims. */
export class NativeBackEnd implements BackEnd {
  readonly name = 'native';
  readonly #client: KubeClient;
  readonly #caches: NativeCaches;
  readonly #fleetDisks: string;

  /** `fleetDisks`: erasure of Servers without a policy of their own. */
  constructor(client: KubeClient, caches: NativeCaches, fleetDisks: string) {
    this.#client = client.withFieldManager(fieldManagerOf('metal3-native'));
    this.#caches = caches;
    this.#fleetDisks = fleetDisks;
  }

  async provisionerOf(access: HostAccess): Promise<Provisioner> {
    const parsed = parseBmcAddress(access.host.spec.bmc?.address ?? '');
    return new NativeProvisioner({
      access,
      client: this.#client,
      caches: this.#caches,
      parsed,
      fleetDisks: this.#fleetDisks,
    });
  }

  /** Changes of the objects that hosts are mapped to. */
  onChange(enqueue: (hostKey: string) => void): Disposable {
    const { hosts, bmcs, servers, claims, inventories } = this.#caches;
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
    return stack;
  }

  async servicesOf(_host: BareMetalHost): Promise<NodeServices> {
    return unsupported;
  }
}

const refuse = (what: string) => async (): Promise<never> => {
  throw new NotSupported(`the native provisioner has no ${what}: use annotation ${provisionerAnnotation}: ironic`);
};

const unsupported: NodeServices = {
  readFirmwareSettings: refuse('HostFirmwareSettings'),
  readFirmwareComponents: async () => [],
  addEventSubscription: refuse('BMCEventSubscriptions'),
  removeEventSubscription: refuse('BMCEventSubscriptions'),
  readDataImage: refuse('DataImages'),
  attachDataImage: refuse('DataImages'),
  detachDataImage: refuse('DataImages'),
};
