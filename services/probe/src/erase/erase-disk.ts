import type { DiskErasure, ErasureMethod, ErasureOrder } from '@metal/api/wire/erasure.ts';
import { reasonOf } from './device.ts';
import { allowedMethods, methods } from './methods.ts';
import { verifySamples, type Place, placesIn, placesOn, type Sample, takeSamples } from './samples.ts';
import type { Method, Work } from './work.ts';

/** In addition to the first and the last sample. */
const randomSampleCount = 256;

export interface DiskToErase {
  readonly work: Work;
  readonly mode: ErasureOrder['mode'];
  /** Seed of the sample offsets. */
  readonly seed: string;
  /** Receives changes of the result. */
  readonly record: (change: Partial<DiskErasure>) => void;
}

/**
 * Tries the methods of the mode in order of preference, until one has erased the disk and the samples confirm it. Results and
 * failures go to `record`; only the signal's reason is thrown, and a disk that was not started by then is Pending again.
 */
export async function eraseDisk(options: DiskToErase): Promise<void> {
  const { work, record } = options;
  // A disk that is not started stays Pending.
  work.signal.throwIfAborted();
  const memory: Memory = { hasStarted: false };
  record({ result: 'Running', startedTime: timeAt(work) });
  try {
    await tryMethods(options, memory);
  } catch (error) {
    if (memory.hasStarted) record({ result: 'Failed', finishedTime: timeAt(work), message: stopped });
    else record({ result: 'Pending', method: undefined, startedTime: undefined });
    throw error;
  }
}

const timeAt = ({ clock }: Work): string => new Date(clock.now()).toISOString();
const stopped = 'stopped before completion';

async function tryMethods(options: DiskToErase, memory: Memory): Promise<void> {
  const { work, mode, record } = options;
  const notes: string[] = [];
  for (const name of allowedMethods[mode][work.disk.commands]) {
    const note = await tryMethod(name, options, memory);
    if (note === undefined) {
      record({ result: 'Erased', finishedTime: timeAt(work), verified: true, message: textOf(notes) });
      return;
    }
    notes.push(`${name}: ${note}`);
    record({ message: textOf(notes) });
  }
  record({
    result: 'Failed',
    finishedTime: timeAt(work),
    message: textOf(notes.length === 0 ? [noMethod(mode, work)] : notes),
  });
}

/** Limited to the length in the report schema. */
const textOf = (notes: readonly string[]): string => notes.join('; ').slice(0, 2_000);

const noMethod = (mode: string, { disk }: Work): string =>
  `${disk.name}: ${mode} requires NVMe or ATA commands, which this disk does not support; use mode Clear to overwrite it`;

interface Memory {
  /** Something may have been written. */
  hasStarted: boolean;
  /**
   * Samples from before the first method; later methods are compared with them too. 'unreadable' for a disk that cannot be
   * read, for example after a failed sanitize (NVM Express 1.3, 8.15).
   */
  before?: readonly Sample[] | 'unreadable';
}

/** Undefined if the disk is erased, else the reason for the failure. */
async function tryMethod(name: ErasureMethod, options: DiskToErase, memory: Memory): Promise<string | undefined> {
  const method = methods[name];
  const { work, record } = options;
  try {
    const blocker = await method.prepare(work);
    if (blocker !== undefined) return blocker;
    record({ method: name, erasedBytes: 0, samples: 0 });
    await eraseAndVerify(method, options, memory);
    return undefined;
  } catch (error) {
    work.signal.throwIfAborted();
    return reasonOf(error);
  }
}

async function eraseAndVerify(method: Method, { work, seed, record }: DiskToErase, memory: Memory): Promise<void> {
  const { disk } = work;
  const ranges = method.ranges?.(disk);
  const places = ranges?.flatMap(placesIn) ?? placesOn(disk.sizeBytes, { count: randomSampleCount, seed });
  if (method.expects === 'NothingOfBefore') memory.before ??= await readBefore(places, work);
  work.signal.throwIfAborted();
  memory.hasStarted = true;
  await method.erase(work);
  const after = await samplesAt(places, work);
  record({ samples: after.length });
  const { before = [] } = memory;
  // Without samples from before, there is no comparison: every sector must be empty.
  if (before === 'unreadable') verifySamples(disk.name, 'ZerosOrOnes', { before: [], after });
  else verifySamples(disk.name, method.expects, { before, after });
  record({ erasedBytes: ranges?.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) ?? disk.sizeBytes });
}

async function readBefore(places: readonly Place[], work: Work): Promise<readonly Sample[] | 'unreadable'> {
  try {
    return await samplesAt(places, work);
  } catch {
    work.signal.throwIfAborted();
    return 'unreadable';
  }
}

async function samplesAt(places: readonly Place[], { open, signal }: Work): Promise<Sample[]> {
  await using device = await open();
  return await takeSamples(device, places, signal);
}
