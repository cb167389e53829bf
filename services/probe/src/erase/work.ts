import type { ProbeClock, RunProgram } from '../environment.ts';
import type { Device } from './device.ts';
import type { DiskFacts } from './disk-facts.ts';
import type { Expectation, Place } from './samples.ts';

/** One disk to be erased, and what is needed for it. */
export interface Work {
  readonly disk: DiskFacts;
  readonly path: string;
  /** Disks behind the same controller that must be left alone. */
  readonly siblings: readonly string[];
  readonly clock: ProbeClock;
  readonly run: RunProgram;
  readonly signal: AbortSignal;
  readonly open: () => Promise<Device>;
  readonly reportProgress: (progress: Progress) => void;
}

export interface Progress {
  readonly erasedBytes?: number;
  readonly message?: string;
  readonly continuesByItself?: boolean | undefined;
}

/** For a command that the device carries out by itself: from when it is sent, ending the program that waits ends nothing. */
export async function insideDevice(
  { disk, signal, reportProgress }: Work,
  command: () => Promise<unknown>,
): Promise<void> {
  signal.throwIfAborted();
  reportProgress({ continuesByItself: true });
  try {
    await command();
  } catch (error) {
    if (!signal.aborted) reportProgress({ continuesByItself: undefined });
    throw error;
  }
  reportProgress({ continuesByItself: undefined, erasedBytes: disk.sizeBytes });
}

/** One way to erase a disk. */
export interface Method {
  readonly expects: Expectation;
  /** Makes the disk ready and comes back with nothing, or with why it cannot be erased like this. Destroys nothing. */
  readonly prepare: (work: Work) => Promise<string | undefined>;
  /** Comes back when the disk says that it is done. @throws whatever went wrong; the disk is then in between. */
  readonly erase: (work: Work) => Promise<void>;
  /** What it erases; left out for everything. */
  readonly ranges?: (disk: DiskFacts) => readonly Place[];
}
