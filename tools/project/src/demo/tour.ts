import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kinds } from '@metal/api/kinds.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { startControlPlane } from '@metal/controlplane/control-plane.ts';
import { freePort } from '@metal/controlplane/free-port.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { admissionRules } from '@metal/api/admission.ts';
import { installKinds, installAdmissionRules } from '@metal/kube/client/install-kinds.ts';
import type { Fleet } from '@metal/simulator/fleet.ts';
import { pino } from 'pino';
import { CostMeter } from './costs.ts';
import { type DayTwoStage, type Followed, walkDayTwo } from './day-two.ts';
import { type OperatorProcess, startOperatorProcess } from '../operator-process.ts';
import { type MachineKind, openRack } from './rack.ts';
import { Screen } from './screen.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { ControlPlane } from '@metal/controlplane/running-control-plane.ts';
import { openSerialView } from './serial-view.ts';

/** A step of the tour failed; the message has the step and the last state. */
export class DemoFailed extends Error {}

export const tours = ['life', 'day2'] as const;
export type TourName = (typeof tours)[number];

export interface TourOptions {
  readonly servers: number;
  readonly machines: MachineKind;
  readonly stepTimeoutMs: number;
  readonly directory: string;
  readonly signal: AbortSignal;
}

interface Stage {
  readonly plane: ControlPlane;
  readonly fleet: Fleet;
  readonly operator: OperatorProcess;
  readonly client: KubeClient;
  readonly servers: Cache<Server>;
  readonly claims: Cache<ServerClaim>;
  readonly costs: CostMeter;
}

const rackLabel = 'metadata.metal.ironcore.dev/rack';

/** Runs the main path once, with progress on the screen. */
export class Tour implements AsyncDisposable {
  readonly #options: TourOptions;
  readonly #screen: Screen;
  readonly #stage: Stage;
  readonly #stack: AsyncDisposableStack;

  private constructor(options: TourOptions, screen: Screen, stage: Stage, stack: AsyncDisposableStack) {
    this.#options = options;
    this.#screen = screen;
    this.#stage = stage;
    this.#stack = stack;
  }

  static async start(options: TourOptions): Promise<Tour> {
    const stack = new AsyncDisposableStack();
    const screen = stack.use(new Screen(process.stdout));
    try {
      return new Tour(options, screen, await setUpStage(options, screen, stack), stack);
    } catch (error) {
      await stack.disposeAsync();
      throw error;
    }
  }

  /** Discovery of all servers, then one claim from creation to release; day2: with updates and a decommission between. */
  async walk(name: TourName): Promise<void> {
    await this.#discover();
    const claim = await this.#claim();
    if (name === 'day2') await walkDayTwo(this.#dayTwoStage(), claim);
    await this.#release(claim);
    this.#screen.summary(this.#stage.plane.kubeconfigPath, this.#stage.plane.binaries.kubectl);
  }

  /** Waits for Ctrl-C. */
  async stay(): Promise<void> {
    const { signal } = this.#options;
    this.#screen.stay('The rack keeps running; press Ctrl-C to stop it.');
    await new Promise<void>((resolve) =>
      signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  #dayTwoStage(): DayTwoStage {
    const { client, servers, claims } = this.#stage;
    return {
      client,
      servers,
      claims,
      step: (title, work) => this.#screen.step(title, work),
      until: (expectation, followed, holds) => this.#until(expectation, followed, holds),
      log: (line) => this.#screen.log(line),
    };
  }

  async #discover(): Promise<void> {
    const { client, fleet, servers, costs } = this.#stage;
    const endpoints = fleet.endpoints();
    await this.#screen.step(`discover ${endpoints.length} servers, from MAC address to Available`, async () => {
      await Promise.all(
        endpoints.map(({ name, macAddress, ip }) =>
          client.create(Endpoint, { metadata: { name }, spec: { macAddress, ip } }),
        ),
      );
      await this.#until('every server is Available and off', [], () => {
        const all = [...servers.all()];
        return (
          all.length >= endpoints.length &&
          all.every(({ status }) => status?.state === 'Available' && status.powerState === 'Off')
        );
      });
    });
    this.#screen.log(`             ${await costs.spentPerServer(endpoints.length)} (including the start)`);
  }

  async #claim(): Promise<ServerClaim> {
    const { client, servers, claims } = this.#stage;
    const [first] = [...servers.all()].map(({ metadata }) => metadata.name).toSorted();
    if (first === undefined) throw new DemoFailed('there is no server to claim');
    await client.mergePatch(Server, { name: first }, { metadata: { labels: { [rackLabel]: 'demo' } } });
    const claim = await client.create(ServerClaim, {
      metadata: { name: 'demo', namespace: 'default' },
      spec: { power: 'On', image: 'demo/os', serverSelector: { matchLabels: { [rackLabel]: 'demo' } } },
    });
    await this.#screen.step(`bind a claim with a selector to ${first}`, () =>
      this.#until('the claim is Bound', [], () => claims.get('default/demo')?.status?.phase === 'Bound'),
    );
    await this.#screen.step('boot the image of the claim', () =>
      this.#until(
        'the operating system has reported its boot',
        [],
        () => reasonOf(servers.get(first)) === 'ClaimServed',
      ),
    );
    return claim;
  }

  async #release({ metadata }: ServerClaim): Promise<void> {
    const { client, claims, servers, costs } = this.#stage;
    const name = claims.get('default/demo')?.spec.serverRef?.name ?? '';
    await this.#screen.step('delete the claim; the server is powered off and Available again', async () => {
      await client.delete(ServerClaim, metadata, { uid: metadata.uid });
      await this.#until(
        'the claim is deleted and its server is Available',
        [],
        () => claims.get('default/demo') === undefined && reasonOf(servers.get(name)) === 'Available',
      );
    });
    this.#screen.log(`             from claim to release: ${await costs.spentPerServer(1)}`);
  }

  #until(expectation: string, followed: readonly Followed[], holds: () => boolean): Promise<void> {
    const { stepTimeoutMs, signal } = this.#options;
    const { servers, claims, operator } = this.#stage;
    return new Promise((resolve, reject) => {
      const stack = new DisposableStack();
      const end = (error?: Error) => {
        stack.dispose();
        return error === undefined ? resolve() : reject(error);
      };
      const check = () => holds() && end();
      for (const cache of [servers, claims, ...followed]) stack.use(cache.onChange(check));
      const timer = setTimeout(
        () =>
          end(
            new DemoFailed(
              `expected "${expectation}" within ${stepTimeoutMs / 1_000} s.\n${this.#screen.lastSeen()}\noperator: ${operator.log.slice(-3).join('\n')}`,
            ),
          ),
        stepTimeoutMs,
      );
      stack.defer(() => clearTimeout(timer));
      const onAbort = () => end(new DemoFailed('stopped'));
      signal.addEventListener('abort', onAbort, { once: true });
      stack.defer(() => signal.removeEventListener('abort', onAbort));
      void operator.ended.then((code) =>
        end(new DemoFailed(`the operator ended with code ${code}: ${operator.log.slice(-3).join('\n')}`)),
      );
      check();
    });
  }
}

const reasonOf = (server: Server | undefined): string | undefined =>
  server?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason;

async function setUpStage(options: TourOptions, screen: Screen, stack: AsyncDisposableStack): Promise<Stage> {
  const plane = await screen.step('start a Kubernetes control plane', () =>
    startControlPlane({ controllerManager: true, log: (line) => screen.log(line) }),
  );
  stack.use(plane);
  const client = stack.use(createKubeClient({ kubeconfigPath: plane.kubeconfigPath, defaultFieldManager: 'demo' }));
  await screen.step(`install ${kinds.length} kinds`, async () => {
    await installKinds(client, kinds);
    await installAdmissionRules(client, admissionRules);
  });
  const { servers: count, directory } = options;
  const rack = await openRack[options.machines]({ servers: count, directory, screen });
  const fleet = stack.use(rack.fleet);
  const metricsPort = await freePort();
  const flags = [
    ...(await writeFlags(directory, plane.kubeconfigPath, fleet)),
    ...rack.flags,
    `--metrics-bind-address=127.0.0.1:${metricsPort}`,
  ];
  const operator = await screen.step('start the operator', () => startOperatorProcess({ flags }));
  stack.use(operator);
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
  return { plane, fleet, operator, client, servers, claims, costs };
}

async function writeFlags(directory: string, kubeconfigPath: string, fleet: Fleet): Promise<string[]> {
  const path = (name: string) => join(directory, name);
  await writeFile(path('mac-prefixes.yaml'), fleet.macPrefixFile());
  return [
    `--kubeconfig=${kubeconfigPath}`,
    `--mac-prefixes-file=${path('mac-prefixes.yaml')}`,
    `--boot-images=${path('images.json')}`,
    '--probe-image=demo/probe',
    '--probe-os-image=demo/probe',
    '--protocol=http',
    '--metrics-secure=false',
    '--health-probe-bind-address=0',
  ];
}
