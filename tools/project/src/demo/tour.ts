import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ExistingCluster } from './cluster.ts';
import { type DayTwoStage, type Followed, walkDayTwo } from './day-two.ts';
import { DemoFailed } from './demo-failed.ts';
import { type HostImage, serveHostImage, walkHosts } from './hosts.ts';
import { demoLabels } from './ownership.ts';
import type { MachineKind } from './rack.ts';
import { Screen } from './screen.ts';
import { setUpStage, type Stage } from './stage.ts';

export const tours = ['life', 'day2', 'metal3'] as const;
export type TourName = (typeof tours)[number];

export interface TourOptions {
  readonly name: TourName;
  readonly servers: number;
  readonly machines: MachineKind;
  readonly stepTimeoutMs: number;
  readonly directory: string;
  readonly existing: ExistingCluster | undefined;
  readonly signal: AbortSignal;
}

const rackLabel = 'metadata.metal.ironcore.dev/rack';

interface TourParts {
  readonly screen: Screen;
  readonly stage: Stage;
  /** Of the tour metal3. */
  readonly hostImage: HostImage | undefined;
}

/** Runs the main path once, with progress on the screen. */
export class Tour implements AsyncDisposable {
  readonly #options: TourOptions;
  readonly #screen: Screen;
  readonly #stage: Stage;
  readonly #hostImage: HostImage | undefined;
  readonly #stack: AsyncDisposableStack;

  private constructor({ screen, stage, hostImage, ...options }: TourOptions & TourParts, stack: AsyncDisposableStack) {
    this.#options = options;
    this.#screen = screen;
    this.#stage = stage;
    this.#hostImage = hostImage;
    this.#stack = stack;
  }

  static async start(options: TourOptions): Promise<Tour> {
    const stack = new AsyncDisposableStack();
    const screen = stack.use(new Screen(process.stdout));
    try {
      const hostImage = options.name === 'metal3' ? await serveHostImage(stack) : undefined;
      const stage = await setUpStage({ ...options, hostImages: hostImage?.origin }, screen, stack);
      return new Tour({ ...options, screen, stage, hostImage }, stack);
    } catch (error) {
      await stack.disposeAsync();
      throw error;
    }
  }

  /**
   * Discovery of all servers, then one claim from creation to release; day2: with updates and a decommission between; metal3: hosts
   * instead.
   */
  async walk(): Promise<void> {
    const { cluster, fleet, costs } = this.#stage;
    if (this.#hostImage === undefined) await this.#walkServers();
    else await walkHosts({ ...this.#steps(), fleet, costs }, this.#hostImage);
    const more = this.#hostImage === undefined ? [] : ['baremetalhosts'];
    this.#screen.summary(cluster, [...more, 'servers', 'bmcs', 'serverclaims']);
  }

  /** Waits for Ctrl-C. @throws DemoFailed if something else ends the demo. */
  async stay(): Promise<void> {
    const { signal } = this.#options;
    this.#screen.stay('The rack keeps running; press Ctrl-C to stop it.');
    await new Promise<void>((resolve) =>
      signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    if (!(signal.reason instanceof DemoFailed) || signal.reason.exitCode !== 0) throw stoppedBy(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  async #walkServers(): Promise<void> {
    await this.#discover();
    const claim = await this.#claim();
    if (this.#options.name === 'day2') await walkDayTwo(this.#steps(), claim);
    await this.#release(claim);
  }

  #steps(): DayTwoStage {
    const { client, cluster, servers, claims } = this.#stage;
    return {
      client,
      namespace: cluster.namespace,
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
          client.create(Endpoint, { metadata: { name, labels: demoLabels }, spec: { macAddress, ip } }),
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
    const { client, cluster, servers } = this.#stage;
    const [first] = [...servers.all()].map(({ metadata }) => metadata.name).toSorted();
    if (first === undefined) throw new DemoFailed('there is no server to claim');
    await client.mergePatch(Server, { name: first }, { metadata: { labels: { [rackLabel]: 'demo' } } });
    const claim = await client.create(ServerClaim, {
      metadata: { name: 'demo', namespace: cluster.namespace },
      spec: { power: 'On', image: 'demo/os', serverSelector: { matchLabels: { [rackLabel]: 'demo' } } },
    });
    await this.#screen.step(`bind a claim with a selector to ${first}`, () =>
      this.#until('the claim is Bound', [], () => this.#demoClaim()?.status?.phase === 'Bound'),
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
    const { client, servers, costs } = this.#stage;
    const name = this.#demoClaim()?.spec.serverRef?.name ?? '';
    await this.#screen.step('delete the claim; the server is powered off and Available again', async () => {
      await client.delete(ServerClaim, metadata, { uid: metadata.uid });
      await this.#until(
        'the claim is deleted and its server is Available',
        [],
        () => this.#demoClaim() === undefined && reasonOf(servers.get(name)) === 'Available',
      );
    });
    this.#screen.log(`             from claim to release: ${await costs.spentPerServer(1)}`);
  }

  #demoClaim(): ServerClaim | undefined {
    const { claims, cluster } = this.#stage;
    return claims.get(`${cluster.namespace}/demo`);
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
      const onAbort = () => end(stoppedBy(signal));
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      stack.defer(() => signal.removeEventListener('abort', onAbort));
      void operator.ended.then((code) =>
        end(new DemoFailed(`the operator ended with code ${code}: ${operator.log.slice(-3).join('\n')}`)),
      );
      check();
    });
  }
}

const stoppedBy = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new DemoFailed(String(reason));

const reasonOf = (server: Server | undefined): string | undefined =>
  server?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
