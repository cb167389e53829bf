import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { cdDevice } from './boot-plan.ts';
import type { VirtualMedia } from '../machine.ts';
import type { Monitor } from './monitor.ts';

const fetchTimeoutMs = 300_000;

export interface CdDriveOptions {
  /** File of the inserted image. */
  readonly file: string;
  readonly fetch: typeof globalThis.fetch;
  /** Monitor of the machine; undefined while it is off. */
  readonly monitor: () => Monitor | undefined;
  readonly onChange: () => void;
}

/** The virtual CD of a machine in QEMU. An inserted image stays through its starts. */
export class CdDrive implements VirtualMedia {
  image: string | undefined;
  readonly #options: CdDriveOptions;

  constructor(options: CdDriveOptions) {
    this.#options = options;
  }

  /** The file of the inserted image. */
  get medium(): string | undefined {
    return this.image === undefined ? undefined : this.#options.file;
  }

  async insert(image: string): Promise<void> {
    const { file, fetch, monitor, onChange } = this.#options;
    const response = await fetch(image, { signal: AbortSignal.timeout(fetchTimeoutMs) });
    if (!response.ok || response.body === null) throw new Error(`the server answered ${response.status}`);
    await pipeline(Readable.fromWeb(response.body), createWriteStream(file));
    await monitor()?.do('blockdev-change-medium', { id: cdDevice, filename: file, format: 'raw' });
    this.image = image;
    onChange();
  }

  async eject(): Promise<void> {
    const { file, monitor, onChange } = this.#options;
    await monitor()?.do('eject', { id: cdDevice, force: true });
    await rm(file, { force: true });
    this.image = undefined;
    onChange();
  }
}
