import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { OperatorError } from '@metal/kube/errors.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { jitter } from '@metal/kube/runtime/jitter.ts';
import { asBackEndFailure } from '../errors.ts';
import { NotSupported } from '../provisioner/node-services.ts';

/** An answer of the back end about the node of a host. */
export interface Reading<T> {
  readonly result: T | NotSupported;
  /** Start of the request, milliseconds of the clock. */
  readonly at: number;
  readonly subject: string;
}

/** What an answer is about: this generation of the object, and this machine. */
export const subjectOf = ({ metadata }: KubeObject, host: BareMetalHost | undefined): string =>
  JSON.stringify([metadata.generation, host?.metadata.uid, host?.spec.bmc?.address, host?.status?.provisioning.ID]);

/** Memory of an object whose controller reads the node repeatedly. */
export interface NodeReadings<T> {
  last: Reading<T> | undefined;
  /** Of the last request, if it may pass by itself. */
  failure: { readonly message: string; readonly at: number } | undefined;
}

const retryMs = seconds(30);
const changedMs = minutes(1);
const unchangedMs = minutes(5);

/** Stores the answer, or the failure. Throws defects only. */
export async function readNode<T>(
  memory: NodeReadings<T>,
  { at, subject }: Pick<Reading<T>, 'at' | 'subject'>,
  read: () => Promise<T>,
): Promise<void> {
  try {
    memory.last = { result: await read(), at, subject };
    memory.failure = undefined;
  } catch (error) {
    if (error instanceof NotSupported) {
      memory.last = { result: error, at, subject };
      memory.failure = undefined;
    } else memory.failure = { message: failureMessage(error), at };
  }
}

/** The message of a failed call of the back end. @throws a defect as it is */
export function failureMessage(error: unknown): string {
  const failure = asBackEndFailure(error);
  if (failure instanceof OperatorError) return failure.message;
  throw error;
}

export interface ReadingNeed {
  readonly now: number;
  readonly name: string;
  readonly subject: string;
  /** The object asks for another state of the machine. */
  readonly isChanged: boolean;
  /** An earlier answer is outdated; milliseconds of the clock. */
  readonly changedAt: number | undefined;
}

/** Milliseconds until the node is read again, and the failure that is waited for. */
export function nextReading<T>(
  { last, failure }: Readonly<NodeReadings<T>>,
  need: ReadingNeed,
): { readonly inMs: number; readonly failure: string | undefined } {
  const { now, changedAt = Number.NEGATIVE_INFINITY } = need;
  if (failure !== undefined && failure.at + retryMs > now)
    return { inMs: failure.at + retryMs - now, failure: failure.message };
  const isOutdated = last === undefined || last.subject !== need.subject || last.at < changedAt;
  if (isOutdated || failure !== undefined) return { inMs: 0, failure: undefined };
  const intervalMs = need.isChanged ? changedMs : jitter(unchangedMs, need.name);
  return { inMs: last.at + intervalMs - now, failure: undefined };
}
