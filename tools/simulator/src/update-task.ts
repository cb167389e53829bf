import type { Clock } from './clock.ts';

export type TaskState = 'New' | 'Starting' | 'Running' | 'Completed' | 'Exception';

export interface TaskMessage {
  readonly id: string;
  readonly text: string;
  readonly args?: readonly string[];
}

/** One firmware update, as its task shows it. */
export class UpdateTask {
  readonly id: string;
  /** Path of the request that started it. */
  readonly targetUri: string;
  readonly startedAt: number;
  state: TaskState = 'New';
  messages: readonly TaskMessage[] = [];
  /** The BMC does not show it. */
  isHidden = false;
  readonly #clock: Clock;
  /** While it writes. */
  #writing: { readonly since: number; readonly forMs: number } | undefined;

  constructor(id: string, targetUri: string, clock: Clock) {
    this.id = id;
    this.targetUri = targetUri;
    this.#clock = clock;
    this.startedAt = clock.now();
  }

  get isOver(): boolean {
    return this.state === 'Completed' || this.state === 'Exception';
  }

  get status(): 'OK' | 'Critical' {
    return this.state === 'Exception' ? 'Critical' : 'OK';
  }

  /** From 10 to 90 while it writes. */
  get percent(): number {
    if (this.isOver) return 100;
    if (this.#writing === undefined) return 0;
    const { since, forMs } = this.#writing;
    return 10 + Math.round(80 * Math.min(1, (this.#clock.now() - since) / Math.max(1, forMs)));
  }

  write(forMs: number): void {
    this.state = 'Running';
    this.#writing = { since: this.#clock.now(), forMs };
    this.messages = [{ id: 'Update.1.2.InstallingOnComponent', text: 'The image is being installed.' }];
  }

  /** It goes on with the next start of the machine. */
  schedule(): void {
    this.state = 'Starting';
    this.messages = [{ id: 'IDRAC.2.9.JCP001', text: 'Task successfully scheduled.' }];
  }

  complete(needsReset: boolean): void {
    this.state = 'Completed';
    const done = { id: 'Update.1.2.UpdateSuccessful', text: 'The update was successful.' };
    const reset = { id: 'Base.1.18.ResetRequired', text: 'It takes effect with a reset.' };
    this.messages = needsReset ? [done, reset] : [done];
  }

  fail(text: string): void {
    this.state = 'Exception';
    this.messages = [{ id: 'Update.1.2.ApplyFailed', text }];
  }
}
