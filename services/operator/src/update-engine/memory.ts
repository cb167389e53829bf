import { conditionsOf } from '../controllers/ready-condition.ts';
import type { Attempt, Comparison, Sending, UpdateObject, UpdateStatus } from './types.ts';

type Failure = NonNullable<UpdateStatus['failure']>;
type Task = NonNullable<UpdateStatus['upgradeTask']>;

/** A comparison and what it was made for. */
export interface Compared {
  readonly value: Comparison;
  /** Milliseconds of the clock. */
  readonly at: number;
  readonly generation: number;
  /** The desired state is another one than in the last comparison or attempt. */
  readonly hasNewDesired: boolean;
}

/** Progress of one object. The part that must survive the process is in its status, from where the next process takes it. */
export class UpdateMemory {
  compared: Compared | undefined;
  /** A comparison was begun, and had no result yet. */
  isComparing = false;
  /** Desired state of the last comparison. */
  desired: string | undefined;
  /** When the variables were read last. */
  variablesReadAt = 0;
  attempt: Attempt = {};
  task: Task | undefined;
  failure: Failure | undefined;
  /** Generation of the spec that failed. */
  failedGeneration: number | undefined;
  failedAttempts = 0;
  /** Annotation that began the present attempt after a failure. */
  retriedBy: string | undefined;
  /** Reads of a task or of values since the last step; the pause between them grows. */
  polls = 0;
  nextPollAt = 0;
  sending: Sending;
  /** Names of the steps that were verified in the attempt. */
  verifiedSteps: readonly string[] = [];
  #uid: string | undefined;

  /** Takes the progress over from the status, once. A success ends the count of failures. */
  observe(object: UpdateObject): void {
    const { metadata, status } = object;
    if (status?.state === 'Applied' || status?.state === 'Completed') {
      this.failedAttempts = 0;
      this.retriedBy = undefined;
    }
    if (this.#uid === metadata.uid) return;
    this.#uid = metadata.uid;
    this.desired = status?.attempt?.desired;
    this.attempt = status?.attempt ?? {};
    this.task = status?.upgradeTask;
    this.failure = status?.failure;
    this.failedGeneration = status?.observedGeneration;
    this.failedAttempts = status?.failedAttempts ?? 0;
    const retried = conditionsOf(object).find(({ type }) => type === 'RetryOfFailedResourceIssued');
    this.retriedBy = retried?.status === 'True' ? retried.message : undefined;
  }

  /** Nothing of an earlier attempt counts. */
  beginAttempt(): void {
    this.attempt = {};
    this.task = undefined;
    this.failure = undefined;
    this.compared = undefined;
    this.sending = undefined;
    this.verifiedSteps = [];
    this.resetPolls();
  }

  /** The next step of the same maintenance. */
  beginStep(): void {
    const { desired, generation, startTime, bmcResetTime, step, resetTime } = this.attempt;
    if (step !== undefined && resetTime !== undefined) this.verifiedSteps = [...this.verifiedSteps, step];
    this.attempt = { desired, generation, startTime, bmcResetTime };
    this.task = undefined;
    this.sending = undefined;
    this.resetPolls();
  }

  polled(now: number, firstMs: number, longestMs: number): void {
    this.nextPollAt = now + Math.min(firstMs * 1.5 ** Math.min(this.polls, 20), longestMs);
    this.polls += 1;
  }

  resetPolls(): void {
    this.polls = 0;
    this.nextPollAt = 0;
  }
}
