import type { Device } from '@metal/probe/erase/device.ts';

const blockBytes = 4_096;
const zeros = new Uint8Array(blockBytes);

/** The content of the disks of one machine. Blocks of zeros need no memory. */
export class SimulatedDisks {
  readonly #blocks = new Map<string, Map<number, Uint8Array>>();
  readonly #writes = new Map<string, number>();

  /** Number of writes to the disk, through all its owners. */
  writesTo(name: string): number {
    return this.#writes.get(name) ?? 0;
  }

  read(name: string, offset: number, sizeBytes: number): Buffer {
    const content = Buffer.alloc(sizeBytes);
    const blocks = this.#blocks.get(name);
    for (let at = offset - (offset % blockBytes); at < offset + sizeBytes; at += blockBytes) {
      const block = blocks?.get(at) ?? zeros;
      const from = Math.max(at, offset);
      const until = Math.min(at + blockBytes, offset + sizeBytes);
      content.set(block.subarray(from - at, until - at), from - offset);
    }
    return content;
  }

  open(name: string): Device {
    return {
      write: async (data, offset) => this.#write(name, data, offset),
      read: async (into, offset) => into.set(this.read(name, offset, into.length)),
      flush: async () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    };
  }

  erase(): void {
    this.#blocks.clear();
  }

  #write(name: string, data: Uint8Array, offset: number): void {
    this.#writes.set(name, this.writesTo(name) + 1);
    const blocks = this.#blocks.get(name) ?? new Map<number, Uint8Array>();
    this.#blocks.set(name, blocks);
    for (let at = offset - (offset % blockBytes); at < offset + data.length; at += blockBytes) {
      const block = Uint8Array.from(blocks.get(at) ?? zeros);
      const from = Math.max(at, offset);
      block.set(data.subarray(from - offset, at + blockBytes - offset), from - at);
      if (block.every((byte) => byte === 0)) blocks.delete(at);
      else blocks.set(at, block);
    }
  }
}
