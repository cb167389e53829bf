import type { OperatorProcess } from '@metal/project/operator-process.ts';
import type { Testenv, TestenvOptions } from '../testenv.ts';
import { MachineService } from './machine-service.ts';

export interface RestartingTestenv extends AsyncDisposable {
  readonly testenv: Testenv;
  readonly operator: RestartingOperator;
}

export interface RestartingTestenvOptions {
  /** Duration of each step of a machine. */
  readonly stepMs: number;
  /** Further options of the fleet, such as the duration of an erasure, which is that of any other step by default. */
  readonly fleet?: TestenvOptions['fleet'];
  readonly flags: readonly string[];
  /** Timeout of each wait; that of a test environment by default. */
  readonly timeoutMs?: number;
}

/**
 * A test environment in real time with one operator that can be killed. While it is down, requests of machines wait for
 * the next one; firmware retries rejected ones, as an operator may take longer to start than firmware tries.
 */
export async function startRestartingTestenv(
  startTestenv: (options: TestenvOptions) => Promise<Testenv>,
  { stepMs, fleet, flags, timeoutMs }: RestartingTestenvOptions,
): Promise<RestartingTestenv> {
  await using stack = new AsyncDisposableStack();
  const service = new MachineService();
  const { fleet: machines, ...others } = service.testenvOptions(stepMs, flags);
  const testenv = stack.use(
    await startTestenv({
      ...others,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      fleet: { ...machines, eraseMs: stepMs, ...fleet },
    }),
  );
  const operator = stack.use(new RestartingOperator(testenv, service));
  await operator.started;
  const owned = stack.move();
  return { testenv, operator, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

interface Kill {
  readonly reason: string;
  readonly meanwhile: () => Promise<unknown>;
}

/** One operator process that is killed at any time and restarted, as by the kubelet. */
export class RestartingOperator implements AsyncDisposable {
  readonly #testenv: Testenv;
  readonly #service: MachineService;
  #process: OperatorProcess | undefined;
  #served: Disposable | undefined;
  #starting: Promise<void> = Promise.resolve();
  #pendingKill: Kill | undefined;
  #isDisposed = false;
  /** SIGKILLs so far. */
  kills = 0;

  constructor(testenv: Testenv, service: MachineService) {
    this.#testenv = testenv;
    this.#service = service;
    this.#starting = this.#start();
  }

  /** The current start has ended; rejects when the operator did not start. */
  get started(): Promise<void> {
    return this.#starting;
  }

  /** Sends SIGKILL now, or as soon as the starting process is ready. The next process starts after `meanwhile`. */
  kill(reason: string, meanwhile: Kill['meanwhile'] = () => Promise.resolve()): void {
    const process = this.#process;
    if (this.#isDisposed) return;
    if (process === undefined) {
      this.#pendingKill = { reason, meanwhile };
      return;
    }
    this.kills += 1;
    this.#process = undefined;
    const exited = process.kill();
    this.#served?.[Symbol.dispose]();
    this.#testenv.timeline.note(`the operator is killed: ${reason}`);
    this.#starting = exited.then(meanwhile).then(() => this.#start());
    // A caller that awaits `started` gets the failure.
    this.#starting.catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await this.#starting.catch(() => undefined);
    this.#served?.[Symbol.dispose]();
    await this.#process?.[Symbol.asyncDispose]();
  }

  async #start(): Promise<void> {
    if (this.#isDisposed) return;
    const process = await this.#testenv.startOperatorProcess();
    const addresses = { boot: process.bootUrl, registry: process.registryUrl };
    this.#process = process;
    this.#served = this.#service.add(addresses, addresses);
    this.#testenv.timeline.note('the operator runs');
    const pending = this.#pendingKill;
    this.#pendingKill = undefined;
    if (pending !== undefined) this.kill(`${pending.reason} (while it started)`, pending.meanwhile);
  }
}
