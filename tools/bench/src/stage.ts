import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { admissionRules } from '@metal/api/admission.ts';
import { kinds } from '@metal/api/kinds.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { startControlPlane } from '@metal/controlplane/control-plane.ts';
import { type ImageServer, startImageServer } from '@metal/testenv/network/image-server.ts';
import { Lease } from '@metal/kube/kinds/builtin.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { installKinds, installAdmissionRules } from '@metal/kube/client/install-kinds.ts';
import { pino } from 'pino';
import { BootStub } from './boot-stub.ts';
import { type FleetNode, FleetProcess, type FleetSpeed } from './fleet-process.ts';
import { AuditLog } from './meter/audit-log.ts';
import { LogErrors } from './meter/log-errors.ts';
import { Meter } from './meter/meter.ts';
import { HostContention } from './meter/host-contention.ts';
import { Credentials } from './operator/credentials.ts';
import {
  freePorts,
  type MeasuredOperator,
  type OperatorChoice,
  type Ports,
  type ReplicaConfig,
  startMeasured,
} from './operator/measured-operator.ts';
import { mostOpenFiles, openFilesFor } from './open-files.ts';
import type { Progress } from './progress.ts';
import { TemporaryDirectory } from './temporary-directory.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { ControlPlane } from '@metal/controlplane/running-control-plane.ts';
import { type Role, untilInRole } from './operator/until-in-role.ts';

export interface StageOptions {
  readonly servers: number;
  readonly speed: FleetSpeed;
  readonly seed: string;
  readonly operator: OperatorChoice;
  /** Additional flags of the operator. */
  readonly operatorFlags?: readonly string[] | undefined;
  readonly progress: Progress;
  /** Vendors of the servers, separated by commas. Default: those of the simulator in rotation. */
  readonly vendors?: string | undefined;
  /** Called with the empty cluster before the operator starts. */
  readonly prepare?: ((client: KubeClient) => Promise<void>) | undefined;
}

interface Caches {
  readonly servers: Cache<Server>;
  readonly claims: Cache<ServerClaim>;
  readonly bmcs: Cache<BMC>;
  readonly leases: Cache<Lease>;
}

interface Parts {
  readonly options: StageOptions;
  readonly credentials: Credentials;
  readonly plane: ControlPlane;
  readonly client: KubeClient;
  readonly fleet: FleetProcess;
  readonly nodes: readonly FleetNode[];
  readonly audit: AuditLog;
  readonly hostContention: HostContention;
  readonly caches: Caches;
  readonly images: ImageServer;
  readonly directory: string;
}

/**
 * The environment of scenarios: an empty cluster, a fleet without Endpoints, and one operator that is ready.
 *
 *     bench ──API──► control plane ◄──API── operator ──Redfish──► fleet      (four processes and more)
 *       └── reads: audit log, /proc of the operator, its metrics, counters of the fleet
 */
export class Stage implements AsyncDisposable {
  readonly meter: Meter;
  readonly operators: MeasuredOperator[] = [];
  /** Error lines of all operators of the stage. */
  readonly logErrors = new LogErrors();
  readonly #parts: Parts;
  readonly #stack: AsyncDisposableStack;
  #replicaCount = 0;

  private constructor(parts: Parts, stack: AsyncDisposableStack) {
    this.#parts = parts;
    this.#stack = stack;
    const { audit, fleet, hostContention } = parts;
    this.meter = new Meter({ audit, fleet, hostContention, operators: () => this.operators });
  }

  static async open(options: StageOptions): Promise<Stage> {
    await using stack = new AsyncDisposableStack();
    const { path: directory } = stack.use(await TemporaryDirectory.make('metal-bench-'));
    const log = (line: string) => options.progress.log(line);
    await warnIfTooFewFiles(options);
    const credentials = await Credentials.in(directory);
    const apiServerFlags = [...credentials.apiServerFlags, ...(await AuditLog.apiServerFlags(directory))];
    const plane = stack.use(await startControlPlane({ apiServerFlags, log }));
    const client = stack.use(createKubeClient({ kubeconfigPath: plane.kubeconfigPath, defaultFieldManager: 'bench' }));
    await installKinds(client, kinds);
    await installAdmissionRules(client, admissionRules);
    await options.prepare?.(client);
    // Started after the kinds: the garbage collector discovers new kinds only twice a minute.
    await plane.startControllerManager();
    const { isOurs } = options.operator.flagSet;
    const firstPorts = await freePorts();
    const probeRegistryUrl = isOurs ? undefined : `http://127.0.0.1:${firstPorts.registryPort}`;
    const fleet = stack.use(await FleetProcess.start({ ...options, directory, probeRegistryUrl }));
    const caches = await openCaches(client, isOurs ? [] : [bootStubFor(client)], stack);
    await writeImages(directory);
    await writeFile(join(directory, 'ignition-template.yaml'), 'variant: fcos\nversion: 1.3.0\n');
    const images = stack.use(await startImageServer());
    const audit = AuditLog.logIn(directory);
    const [nodes, hostContention] = await Promise.all([fleet.nodes(), HostContention.find()]);
    const shared = { options, credentials, plane, client, fleet, nodes, audit };
    const parts = { ...shared, hostContention, caches, images, directory };
    const stage = new Stage(parts, stack.move());
    try {
      await stage.startOperator(await stage.newReplicaConfig(firstPorts));
      await fleet.bootFrom(`http://127.0.0.1:${firstPorts.bootPort}`);
      return stage;
    } catch (error) {
      await stage[Symbol.asyncDispose]();
      throw error;
    }
  }

  get client(): KubeClient {
    return this.#parts.client;
  }

  get fleet(): FleetProcess {
    return this.#parts.fleet;
  }

  get nodes(): readonly FleetNode[] {
    return this.#parts.nodes;
  }

  get caches(): Caches {
    return this.#parts.caches;
  }

  /** Serves the images that scenarios install. */
  get images(): ImageServer {
    return this.#parts.images;
  }

  get operatorChoice(): OperatorChoice {
    return this.#parts.options.operator;
  }

  get audit(): AuditLog {
    return this.#parts.audit;
  }

  get seed(): string {
    return this.#parts.options.seed;
  }

  get progress(): Progress {
    return this.#parts.options.progress;
  }

  /** User and ports of one more replica. */
  async newReplicaConfig(ports?: Ports): Promise<ReplicaConfig> {
    const { credentials, plane } = this.#parts;
    const issued = await credentials.issueFor(this.#replicaCount, plane.kubeconfigPath);
    this.#replicaCount += 1;
    return { ...issued, ports: ports ?? (await freePorts()) };
  }

  /** Resolves when it is ready; a standby waits for the lease then. */
  async startOperator(replicaConfig: ReplicaConfig, as: Role = 'worker'): Promise<MeasuredOperator> {
    const { options, fleet, directory, audit, images } = this.#parts;
    const paths = {
      macPrefixes: fleet.macPrefixesPath,
      bootImages: join(directory, 'images.json'),
      ignitionTemplate: join(directory, 'ignition-template.yaml'),
      imageOrigin: images.url,
      servers: String(options.servers),
    };
    const moreFlags = options.operatorFlags ?? [];
    const untilWorking = await untilInRole(audit, replicaConfig.user, as);
    const onLine = (line: string) => this.logErrors.read(line);
    const operator = await startMeasured(options.operator, { replicaConfig, paths, moreFlags, untilWorking, onLine });
    this.operators.push(operator);
    return operator;
  }

  /** Stops it by SIGTERM, or by SIGKILL like a crash. */
  async endOperator(operator: MeasuredOperator, how: 'stop' | 'kill'): Promise<void> {
    this.operators.splice(this.operators.indexOf(operator), 1);
    await operator[how]();
  }

  /** Calls back for every existing Server and at every change. */
  onServer(handler: (server: Server) => void): Disposable {
    return followAll(this.caches.servers, handler);
  }

  onBmc(handler: (bmc: BMC) => void): Disposable {
    return followAll(this.caches.bmcs, handler);
  }

  /** Creates the Endpoints of these nodes. */
  async plugIn(nodes: readonly FleetNode[]): Promise<void> {
    await Promise.all(
      nodes.map(({ name, macAddress, bmc }) =>
        this.client.create(Endpoint, { metadata: { name }, spec: { macAddress, ip: new URL(bmc).hostname } }),
      ),
    );
  }

  /** Never resolves. @throws Error with the end of its log if an operator ends unexpectedly. */
  async failWhenOperatorExits(): Promise<never> {
    const ends = this.operators.map(async (operator) => {
      const code = await operator.ended;
      if (!this.operators.includes(operator)) return new Promise<never>(() => {});
      throw new Error(`the operator ended with code ${code}:\n${this.lastLogLines()}`);
    });
    return Promise.race(ends);
  }

  /** The end of the operators' logs, for error messages. */
  lastLogLines(): string {
    return this.operators.flatMap(({ log }) => log.slice(-5)).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.meter[Symbol.dispose]();
    await Promise.all(this.operators.map((operator) => operator.kill()));
    await this.#stack.disposeAsync();
  }
}

async function warnIfTooFewFiles({ servers, progress }: StageOptions): Promise<void> {
  const [needed, most] = [openFilesFor(servers), await mostOpenFiles()];
  if (needed > most)
    progress.log(
      `${servers} servers may need ${needed} open files, found a limit of ${most}; take fewer servers, or raise it (ulimit -Hn ${needed})`,
    );
}

function followAll<T extends Server | BMC>(cache: Cache<T>, handler: (object: T) => void): Disposable {
  const following = cache.onChange(({ after }) => after !== undefined && handler(after));
  for (const object of cache.all()) handler(object);
  return following;
}

type Watcher = (caches: CacheSet) => Disposable;

const bootStubFor =
  (client: KubeClient): Watcher =>
  (caches) =>
    new BootStub(client, caches.watch(ServerBootConfiguration));

async function openCaches(
  client: KubeClient,
  watchers: readonly Watcher[],
  stack: AsyncDisposableStack,
): Promise<Caches> {
  const set = new CacheSet({ client, clock: systemClock, log: pino({ level: 'silent' }) });
  const caches = {
    servers: set.watch(Server),
    claims: set.watch(ServerClaim),
    bmcs: set.watch(BMC),
    leases: set.watch(Lease, { namespace: 'default' }),
  };
  for (const watcher of watchers) stack.use(watcher(set));
  stack.defer(() => set.stop());
  await set.start();
  return caches;
}

/** Small files: `make bench-boot` measures the cost of images. */
async function writeImages(directory: string): Promise<void> {
  const [kernel, initrd] = [join(directory, 'vmlinuz'), join(directory, 'initrd')];
  await writeFile(kernel, 'a kernel for machines that are simulated\n');
  await writeFile(initrd, 'an initrd for machines that are simulated\n');
  const image = { kernel, initrd };
  await writeFile(join(directory, 'images.json'), JSON.stringify({ 'bench/probe': image, 'bench/os': image }));
}
