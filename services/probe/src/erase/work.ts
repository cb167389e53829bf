import type { ProbeClock, RunProgram } from '../environment.ts';
import type { Device } from './device.ts';
import type { DiskFacts } from './disk-facts.ts';
import type { Expectation, Place } from './samples.ts';

/** One disk to be erased, with its tools. */
export interface Work {
  readonly disk: DiskFacts;
  readonly path: string;
  /** Disks of the same controller that must not be erased. */
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

/** Runs a command that the device executes on its own: once it is sent, it continues even if the waiting program ends. */
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
  /** Prepares the disk. Resolves with the reason if the method cannot be used, else undefined. Destroys no data. */
  readonly prepare: (work: Work) => Promise<string | undefined>;
  /** Resolves when the disk reports completion. @throws on failure; the disk may then be partly erased. */
  readonly erase: (work: Work) => Promise<void>;
  /** The ranges that are erased. Default: the whole disk. */
  readonly ranges?: (disk: DiskFacts) => readonly Place[];
}
