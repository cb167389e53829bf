import type { OperatorProcess } from '@metal/project/operator-process.ts';
import type { Lab, LabOptions } from './lab.ts';
import { MachineService } from './machine-service.ts';

export interface RestartingLab extends AsyncDisposable {
  readonly lab: Lab;
  readonly operator: RestartingOperator;
}

export interface RestartingLabWish {
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
export async function openRestartingLab(
  openLab: (options: LabOptions) => Promise<Lab>,
  { stepMs, eraseMs = stepMs, flags }: RestartingLabWish,
): Promise<RestartingLab> {
  await using stack = new AsyncDisposableStack();
  const service = new MachineService();
  const { fleet, ...others } = service.labFor(stepMs, flags);
  const lab = stack.use(await openLab({ ...others, fleet: { ...fleet, eraseMs } }));
  const operator = stack.use(new RestartingOperator(lab, service));
  await operator.started;
  const owned = stack.move();
  return { lab, operator, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** One operator process that is killed at any moment and started again, as by the kubelet. */
export class RestartingOperator implements AsyncDisposable {
  readonly #lab: Lab;
  readonly #service: MachineService;
  #process: OperatorProcess | undefined;
  #served: Disposable | undefined;
  #starting: Promise<void> = Promise.resolve();
  #isDue = false;
  #isOver = false;
  /** SIGKILLs so far. */
  kills = 0;

  constructor(lab: Lab, service: MachineService) {
    this.#lab = lab;
    this.#service = service;
    this.#starting = this.#start();
  }

  /** The start under way has ended; rejects when the operator did not come up. */
  get started(): Promise<void> {
    return this.#starting;
  }

  /** SIGKILL, now, or as soon as the process is up that is just being started. */
  kill(why: string): void {
    const process = this.#process;
    if (this.#isOver) return;
    if (process === undefined) {
      this.#isDue = true;
      return;
    }
    this.kills += 1;
    this.#process = undefined;
    const gone = process.kill();
    this.#served?.[Symbol.dispose]();
    this.#lab.timeline.note(`the operator is killed: ${why}`);
    this.#starting = gone.then(() => this.#start());
    // Who waits for `started` hears of a failure.
    this.#starting.catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#starting.catch(() => undefined);
    this.#served?.[Symbol.dispose]();
    await this.#process?.[Symbol.asyncDispose]();
  }

  async #start(): Promise<void> {
    if (this.#isOver) return;
    const process = await this.#lab.startOperatorProcess();
    const addresses = { boot: process.bootUrl, registry: process.registryUrl };
    this.#process = process;
    this.#served = this.#service.add(addresses, addresses);
    this.#lab.timeline.note('the operator runs');
    if (!this.#isDue) return;
    this.#isDue = false;
    this.kill('a second time, as soon as it ran');
  }
}
