import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import { type Fleet, type Node, type NodeOptions, startFleet } from '@metal/simulator/fleet.ts';
import type { SimulatedMachine } from '@metal/simulator/simulated-machine.ts';
import { type HostTestenv, startHostTestenv, withoutAdmission } from '../metal3/host-testenv.ts';
import { type ImageServer, startImageServer } from '../network/image-server.ts';
import type { AgentWork } from './ironic-agent-work.ts';
import { startIronicBoot } from './ironic-boot.ts';
import { type IronicFixture, startIronicFixture } from './ironic-fixture.ts';
import type { ObjectsOfKind } from '../cluster/objects-of-kind.ts';
import { simulated } from '../fleet/simulated.ts';
import type { WatchedObject } from '../cluster/watched-object.ts';

export interface AgentHost {
  readonly host: WatchedObject<BareMetalHost>;
  readonly node: Node;
  readonly machine: SimulatedMachine;
  readonly work: AgentWork;
}

/** BareMetalHosts on a real Ironic, whose ramdisk runs an agent on simulated machines. */
export interface IronicTestenv extends AsyncDisposable {
  readonly testenv: HostTestenv;
  readonly fixture: IronicFixture;
  readonly fleet: Fleet;
  readonly images: ImageServer;
  readonly firmwareSettings: ObjectsOfKind<HostFirmwareSettings>;
  /** A machine and a host for it, which boots the ramdisk from its network. */
  addHost(name: string, spec?: Partial<BareMetalHost['spec']>, machine?: NodeOptions): Promise<AgentHost>;
  /** Provision verbs for the node of a host, in order. */
  verbsOf(host: WatchedObject<BareMetalHost>): unknown[];
}

/** Inspection and automated cleaning are other tests. */
export const onlyPower = { inspectionMode: 'disabled', automatedCleaningMode: 'disabled' } as const;

export async function startIronicTestenv(flags: Readonly<Record<string, string>> = {}): Promise<IronicTestenv> {
  await using starting = new AsyncDisposableStack();
  const boot = starting.use(await startIronicBoot());
  const service = { configuration: boot.configuration };
  const fixture = starting.use(await startIronicFixture(service, { ramdisk: boot.ramdisk }));
  const times = { powerOnMs: 100, powerOffMs: 100, bootMs: 100 };
  const fleet = starting.use(await startFleet({ ...times, bootUrl: boot.url }));
  const images = starting.use(await startImageServer());
  const testenv = starting.use(await startHostTestenv({ speed: 10, timeoutMs: 300_000, open: withoutAdmission }));
  await testenv.secret('fleet', { username: 'admin', password: 'fleet-password' });
  await testenv.start({ 'metal3-provisioner': 'ironic', ...flags }, { backEnd: fixture.backEnd });
  const stack = starting.move();
  return {
    testenv,
    fixture,
    fleet,
    images,
    firmwareSettings: testenv.objects(HostFirmwareSettings, testenv.caches.firmwareSettings),
    async addHost(name, spec = {}, machine = {}) {
      const node = await fleet.add(machine);
      const { systemId, hardware } = node.machine;
      const address = `redfish+http://${node.bmc.address}:${fleet.port}/redfish/v1/Systems/${systemId}`;
      const work = boot.connect(node);
      const bmc = { address, credentialsName: 'fleet' };
      const rootDeviceHints = { deviceName: '/dev/nvme1n1' };
      const bootMACAddress = hardware.nics[0]?.macAddress;
      await testenv.host(name, { spec: { bmc, bootMACAddress, rootDeviceHints, ...spec } });
      return { host: testenv.hosts.named(name), node, machine: simulated(node), work };
    },
    verbsOf({ now }) {
      const path = `nodes/${now?.status?.provisioning.ID}/states/provision`;
      return fixture.relay.changes.flatMap((request) => (request.path === path ? [Object(request.body).target] : []));
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
