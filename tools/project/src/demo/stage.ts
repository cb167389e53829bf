import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { freePort } from '@metal/controlplane/free-port.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import type { Fleet } from '@metal/simulator/fleet.ts';
import { pino } from 'pino';
import { type OperatorProcess, startOperatorProcess } from '../operator-process.ts';
import { type Cluster, type ExistingCluster, openExistingCluster, openOwnCluster } from './cluster.ts';
import { CostMeter } from './costs.ts';
import { watchForeignObjects } from './foreign-objects.ts';
import { type MachineKind, openRack } from './rack.ts';
import type { Screen } from './screen.ts';
import { openSerialView } from './serial-view.ts';

export interface StageOptions {
  readonly servers: number;
  readonly machines: MachineKind;
  /** Of files that the operator reads. */
  readonly directory: string;
  /** Origin of images for the hosts of Metal3, whose kinds exist then; undefined: there are none. */
  readonly hostImages: string | undefined;
  /** Instead of an own control plane. */
  readonly existing: ExistingCluster | undefined;
  /** Ends a long start. */
  readonly signal: AbortSignal;
}

/** A cluster, machines, and the operator. */
export interface Stage {
  readonly cluster: Cluster;
  readonly fleet: Fleet;
  readonly operator: OperatorProcess;
  readonly client: KubeClient;
  readonly servers: Cache<Server>;
  readonly claims: Cache<ServerClaim>;
  readonly costs: CostMeter;
}

export async function setUpStage(options: StageOptions, screen: Screen, stack: AsyncDisposableStack): Promise<Stage> {
  const { servers: count, directory, hostImages, existing, signal } = options;
  const extent = { withHosts: hostImages !== undefined, screen, stack, signal };
  const cluster = await (existing === undefined ? openOwnCluster(extent) : openExistingCluster(existing, extent));
  const { client } = cluster;
  signal.throwIfAborted();
  const rack = await openRack[options.machines]({ servers: count, directory, screen });
  const fleet = stack.use(rack.fleet);
  signal.throwIfAborted();
  const metricsPort = await freePort();
  const flags = [
    ...(await writeFlags(directory, cluster, fleet)),
    ...rack.flags,
    ...(hostImages === undefined ? [] : hostFlags(hostImages)),
    `--metrics-bind-address=127.0.0.1:${metricsPort}`,
  ];
  let started: OperatorProcess | undefined;
  if (existing !== undefined)
    await watchForeignObjects(client, {
      withHosts: extent.withHosts,
      stack,
      found: (error) => {
        existing.stop(error);
        void started?.kill();
      },
    });
  signal.throwIfAborted();
  const operator = await screen.step('start the operator', () => startOperatorProcess({ flags }));
  started = stack.use(operator);
  if (signal.aborted) await operator.kill();
  signal.throwIfAborted();
  fleet.setBootUrl(operator.bootUrl);
  const caches = new CacheSet({ client, clock: systemClock, log: pino({ level: 'silent' }) });
  const servers = caches.watch(Server);
  const claims = caches.watch(ServerClaim);
  stack.defer(() => caches.stop());
  await caches.start();
  stack.use(screen.follow(servers, claims));
  if (options.machines === 'qemu' && process.stdin.isTTY && process.stdout.isTTY)
    stack.use(openSerialView(screen, fleet.nodes, () => process.kill(process.pid, 'SIGINT')));
  const costs = new CostMeter(`http://127.0.0.1:${metricsPort}/metrics`, fleet);
  return { cluster, fleet, operator, client, servers, claims, costs };
}

const hostFlags = (origin: string): string[] => [
  '--components=controllers,registry,boot,metal3',
  `--allowed-image-origins=${origin}`,
  // The image server of the demo has a loopback address.
  '--refused-image-networks=192.0.2.0/24',
];

async function writeFlags(directory: string, { kubeconfigPath, namespace }: Cluster, fleet: Fleet): Promise<string[]> {
  const path = (name: string) => join(directory, name);
  await writeFile(path('mac-prefixes.yaml'), fleet.macPrefixFile());
  return [
    `--kubeconfig=${kubeconfigPath}`,
    `--manager-namespace=${namespace}`,
    `--mac-prefixes-file=${path('mac-prefixes.yaml')}`,
    `--boot-images=${path('images.json')}`,
    '--probe-image=demo/probe',
    '--probe-os-image=demo/probe',
    '--protocol=http',
    '--metrics-secure=false',
    '--health-probe-bind-address=0',
  ];
}
