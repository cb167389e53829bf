import type { OperatorProcess } from '@metal/project/operator-process.ts';
import type { Testenv, TestenvOptions } from './testenv.ts';
import { MachineService } from './machine-service.ts';

export interface RestartingTestenv extends AsyncDisposable {
  readonly testenv: Testenv;
  readonly operator: RestartingOperator;
}

export interface RestartingTestenvOptions {
  /** Machines take so long for each step. */
  readonly stepMs: number;
  /** And so long to erase their disks; as for any other step, if left out. */
  readonly eraseMs?: number;
  readonly flags: readonly string[];
}

/**
 * A lab in real time with one operator that can be killed. What machines ask for while it is away waits for the next
 * one; where it is refused, firmware looks again, as an operator may take longer to start than firmware tries.
 */
export async function startRestartingTestenv(
  startTestenv: (options: TestenvOptions) => Promise<Testenv>,
  { stepMs, eraseMs = stepMs, flags }: RestartingTestenvOptions,
): Promise<RestartingTestenv> {
  await using stack = new AsyncDisposableStack();
  const service = new MachineService();
  const { fleet, ...others } = service.testenvOptions(stepMs, flags);
  const testenv = stack.use(await startTestenv({ ...others, fleet: { ...fleet, eraseMs } }));
  const operator = stack.use(new RestartingOperator(testenv, service));
  await operator.started;
  const owned = stack.move();
  return { testenv, operator, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** One operator process that is killed at any moment and started again, as by the kubelet. */
export class RestartingOperator implements AsyncDisposable {
  readonly #testenv: Testenv;
  readonly #service: MachineService;
  #process: OperatorProcess | undefined;
  #served: Disposable | undefined;
  #starting: Promise<void> = Promise.resolve();
  #isKillPending = false;
  #isDisposed = false;
  /** SIGKILLs so far. */
  kills = 0;

  constructor(testenv: Testenv, service: MachineService) {
    this.#testenv = testenv;
    this.#service = service;
    this.#starting = this.#start();
  }

  /** The start under way has ended; rejects when the operator did not come up. */
  get started(): Promise<void> {
    return this.#starting;
  }

  /** SIGKILL, now, or as soon as the process is up that is just being started. */
  kill(reason: string): void {
    const process = this.#process;
    if (this.#isDisposed) return;
    if (process === undefined) {
      this.#isKillPending = true;
      return;
    }
    this.kills += 1;
    this.#process = undefined;
    const exited = process.kill();
    this.#served?.[Symbol.dispose]();
    this.#testenv.timeline.note(`the operator is killed: ${reason}`);
    this.#starting = exited.then(() => this.#start());
    // Who waits for `started` hears of a failure.
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
    if (!this.#isKillPending) return;
    this.#isKillPending = false;
    this.kill('a second time, as soon as it ran');
  }
}
