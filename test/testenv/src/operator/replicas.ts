import { leaderElectionLeaseName } from '@metal/api/wire/contract.ts';
import type { OperatorProcess } from '@metal/project/operator-process.ts';
import { startOnFreePorts } from './free-ports.ts';
import type { Testenv } from '../testenv.ts';
import type { MachineService } from './machine-service.ts';
import { untilChanged } from '../cluster/watched-object.ts';

interface Replica {
  readonly process: OperatorProcess;
  readonly served: Disposable;
}

/** Short, so that a story has several changes of leadership, and long enough for a busy machine. */
export const electionFlags = [
  '--leader-elect',
  '--leader-election-lease-duration=12s',
  '--leader-election-renew-deadline=10s',
  '--leader-election-retry-period=500ms',
];

/** Operator processes that elect a leader and serve machines together, like a Deployment behind a Service. */
export class Replicas implements AsyncDisposable {
  readonly #testenv: Testenv;
  readonly #service: MachineService;
  readonly #replicas = new Set<Replica>();
  readonly #flags: readonly string[];
  /** Pending replacements of ended replicas: awaited, as otherwise one would start in the next story. */
  readonly #starting = new Set<Promise<unknown>>();
  #isDisposed = false;
  /** Changes of leadership by SIGKILL so far. */
  failovers = 0;

  constructor(testenv: Testenv, service: MachineService, flags: readonly string[] = electionFlags) {
    this.#testenv = testenv;
    this.#service = service;
    this.#flags = flags;
  }

  /** Live replicas by their identity in the lease. */
  get processes(): ReadonlyMap<string, OperatorProcess> {
    return new Map([...this.#replicas].map(({ process }) => [process.identity, process]));
  }

  async start(extraFlags: readonly string[] = []): Promise<OperatorProcess> {
    const { process, backend } = await startOnFreePorts(this.#testenv, [...this.#flags, ...extraFlags]);
    const served = this.#service.add({ boot: process.bootUrl, registry: process.registryUrl }, backend);
    const replica = { process, served };
    this.#replicas.add(replica);
    void process.ended.then((code) => this.#onExit(replica, code));
    return process;
  }

  /** Kills the leader with SIGKILL; a replacement starts. Resolves when another replica leads. */
  async failOver(): Promise<void> {
    const leader = await this.#leader();
    this.#testenv.timeline.note(`replica ${leader.process.identity} is killed`);
    this.#forget(leader);
    await leader.process.kill();
    await this.start();
    const next = await this.#leader();
    this.failovers += 1;
    this.#testenv.timeline.note(`replica ${next.process.identity} leads`);
  }

  /** Ends the replica without a replacement. */
  async end({ identity }: OperatorProcess, action: 'kill' | 'stop'): Promise<void> {
    const replica = [...this.#replicas].find(({ process }) => process.identity === identity);
    if (replica === undefined) return;
    this.#testenv.timeline.note(`replica ${identity}: ${action}`);
    this.#forget(replica);
    await replica.process[action]();
  }

  /** The replica is expected to exit by itself and gets no replacement. */
  expectExit({ identity }: OperatorProcess): void {
    const replica = [...this.#replicas].find(({ process }) => process.identity === identity);
    if (replica !== undefined) this.#forget(replica);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await Promise.all(this.#starting);
    const last = [...this.#replicas];
    for (const replica of last) this.#forget(replica);
    await Promise.all(last.map(({ process }) => process.kill()));
  }

  #forget(replica: Replica): void {
    this.#replicas.delete(replica);
    replica.served[Symbol.dispose]();
  }

  /** A replica that lost its lease ends, and is restarted as by the kubelet. */
  #onExit(replica: Replica, code: number | null): void {
    if (this.#isDisposed || !this.#replicas.has(replica)) return;
    this.#testenv.timeline.note(
      `replica ${replica.process.identity} ended with ${code}: ${replica.process.log.at(-1)}`,
    );
    this.#forget(replica);
    const starting = this.start()
      .catch((error: unknown) => this.#testenv.timeline.note(`no replacement replica: ${String(error)}`))
      .finally(() => this.#starting.delete(starting));
    this.#starting.add(starting);
  }

  /** Waits until the lease names a live replica. */
  async #leader(): Promise<Replica> {
    const { leases, timeline } = this.#testenv;
    const find = () => {
      const holder = leases.get({ namespace: 'default', name: leaderElectionLeaseName })?.spec?.holderIdentity;
      return [...this.#replicas].find(({ process }) => process.identity === holder);
    };
    const follow = (check: () => void) => leases.onChange(check);
    await untilChanged('the lease', 'is held by a live replica', () => find() !== undefined, follow, timeline);
    const found = find();
    if (found === undefined) throw new Error('the lease changed its holder again at once');
    return found;
  }
}
