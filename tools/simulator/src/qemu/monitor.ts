import type { Duplex } from 'node:stream';
import * as z from 'zod';

/** A message of QEMU's monitor (QMP). */
const qmpMessage = z.union([
  z.object({ event: z.string(), data: z.record(z.string(), z.unknown()).default({}) }),
  z.object({ return: z.unknown(), id: z.number() }),
  z.object({ error: z.object({ class: z.string(), desc: z.string() }), id: z.number() }),
  z.object({ QMP: z.unknown() }),
]);

export interface MonitorEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface PendingCommand {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The monitor connection to QEMU. Commands run one after the other; pending ones are rejected when QEMU exits. */
export class Monitor {
  readonly #channel: Duplex;
  readonly #pending = new Map<number, PendingCommand>();
  readonly #onEvent: (event: MonitorEvent) => void;
  #count = 0;
  #rest = '';

  constructor(channel: Duplex, onEvent: (event: MonitorEvent) => void) {
    this.#channel = channel;
    this.#onEvent = onEvent;
    channel.setEncoding('utf8');
    channel.on('data', (text: string) => this.#read(text));
    channel.on('close', () => this.#end());
  }

  /** @throws Error with the message of QEMU. */
  async do(execute: string, parameters?: Record<string, unknown>): Promise<unknown> {
    const id = ++this.#count;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#pending.set(id, { resolve, reject });
    if (this.#channel.destroyed) this.#end();
    else this.#channel.write(`${JSON.stringify({ execute, arguments: parameters, id })}\n`);
    return promise;
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines.filter((one) => one.trim() !== '')) this.#receive(qmpMessage.parse(JSON.parse(line)));
  }

  #receive(message: z.output<typeof qmpMessage>): void {
    if ('event' in message) return this.#onEvent(message);
    if (!('id' in message)) return;
    const command = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if ('error' in message) command?.reject(new Error(`QEMU: ${message.error.desc}`));
    else command?.resolve(message.return);
  }

  #end(): void {
    for (const { reject } of this.#pending.values()) reject(new Error('QEMU has ended'));
    this.#pending.clear();
  }
}
