import type { DiskErasure, ErasureMethod, ErasureOrder } from '@metal/api/wire/erasure.ts';
import { reasonOf } from './device.ts';
import { allowedMethods, methods } from './methods.ts';
import { judgeSamples, type Place, placesIn, placesOn, type Sample, takeSamples } from './samples.ts';
import type { Method, Work } from './work.ts';

/** Besides the first and the last place. */
const samplesByChance = 256;

export interface DiskToErase {
  readonly work: Work;
  readonly mode: ErasureOrder['mode'];
  /** Makes the places of the samples repeatable. */
  readonly seed: string;
  /** Takes what has become of the disk. */
  readonly record: (change: Partial<DiskErasure>) => void;
}

/**
 * Tries what the mode allows in order of preference, until one has erased the disk and the samples agree. What happens is
 * told to `record`, failures too; only the reason of the signal is thrown.
 */
export async function eraseDisk(options: DiskToErase): Promise<void> {
  const { work, mode, record } = options;
  const now = () => new Date(work.clock.now()).toISOString();
  const notes: string[] = [];
  record({ result: 'Running', startedTime: now() });
  for (const name of allowedMethods[mode][work.disk.commands]) {
    const note = await tryMethod(name, options);
    if (note === undefined) {
      record({ result: 'Erased', finishedTime: now(), verified: true, message: notes.join('; ').slice(0, 2_000) });
      return;
    }
    notes.push(`${name}: ${note}`);
    record({ message: notes.join('; ').slice(0, 2_000) });
  }
  const why = notes.length === 0 ? noMethod(mode, work) : notes.join('; ');
  record({ result: 'Failed', finishedTime: now(), message: why.slice(0, 2_000) });
}

const noMethod = (mode: string, { disk }: Work): string =>
  `${disk.name}: ${mode} needs NVMe or ATA commands, which this disk does not take; order Clear to have it overwritten`;

/** Undefined when the disk is erased, else why it is not. */
async function tryMethod(name: ErasureMethod, options: DiskToErase): Promise<string | undefined> {
  const method = methods[name];
  const { work, record } = options;
  try {
    const obstacle = await method.prepare(work);
    if (obstacle !== undefined) return obstacle;
    record({ method: name, erasedBytes: 0, samples: 0 });
    await eraseAndVerify(method, options);
    return undefined;
  } catch (error) {
    work.signal.throwIfAborted();
    return reasonOf(error);
  }
}

async function eraseAndVerify(method: Method, { work, seed, record }: DiskToErase): Promise<void> {
  const { disk } = work;
  const ranges = method.ranges?.(disk);
  const places = ranges?.flatMap(placesIn) ?? placesOn(disk.sizeBytes, { count: samplesByChance, seed });
  const before = method.expects === 'NothingOfBefore' ? await samplesAt(places, work) : [];
  await method.erase(work);
  const after = await samplesAt(places, work);
  record({ samples: after.length });
  judgeSamples(disk.name, method.expects, { before, after });
  record({ erasedBytes: ranges?.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) ?? disk.sizeBytes });
}

async function samplesAt(places: readonly Place[], { open, signal }: Work): Promise<Sample[]> {
  await using device = await open();
  return await takeSamples(device, places, signal);
}
