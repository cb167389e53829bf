import { mintBootToken } from '@metal/api/wire/boot-token.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { fileNames, hostLine, bootfileLine } from './dnsmasq-configuration.ts';
import { digitsOf } from './mac-address.ts';
import { replyFor, macAddressesOf, type MachineCaches, onReplyChange } from './machines.ts';
import { RecordFiles } from './record-files.ts';
import type { DhcpSettings } from './settings.ts';

export interface HostsWriterOptions {
  readonly caches: MachineCaches;
  readonly settings: Pick<DhcpSettings, 'directory' | 'bootUrl'>;
  readonly bootTokenKey: () => Promise<Uint8Array>;
  /** Called after files were removed. */
  readonly onForget: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Batches changes; a machine takes longer from power-on to its first DHCP request. */
const debounceMs = 200;
const retryMs = 5_000;

/** Writes the files that dnsmasq watches, for machines that changed. */
export class HostsWriter implements AsyncDisposable {
  readonly #options: HostsWriterOptions;
  readonly #hosts: RecordFiles;
  readonly #bootfiles: RecordFiles;
  readonly #subscription: Disposable;
  /** MAC addresses whose files may be stale. */
  readonly #changed = new Set<string>();
  #timer: Disposable | undefined;
  #writing: Promise<void> = Promise.resolve();
  #stopped = false;
  #mustForget = false;

  constructor(options: HostsWriterOptions) {
    this.#options = options;
    const { caches, settings } = options;
    const filesIn = (name: string) =>
      new RecordFiles(join(settings.directory, name), () => {
        this.#mustForget = true;
      });
    this.#hosts = filesIn(fileNames.hosts);
    this.#bootfiles = filesIn(fileNames.options);
    this.#subscription = onReplyChange(caches, (mac) => {
      this.#changed.add(mac);
      this.#scheduleWrite(debounceMs);
    });
  }

  /** Writes the files of all machines, and removes those of an earlier process. */
  async write(): Promise<void> {
    const written = this.#writing.then(() => this.#writeAll());
    this.#writing = written.catch(() => undefined);
    await written;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    this.#subscription[Symbol.dispose]();
    this.#timer?.[Symbol.dispose]();
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    const macs = macAddressesOf(this.#options.caches);
    const expected = new Set([...macs].map((mac) => digitsOf(mac)));
    try {
      for (const files of [this.#hosts, this.#bootfiles]) {
        const staleNames = (await files.names()).filter((name) => !expected.has(name));
        await files.change(new Map(staleNames.map((name) => [name, undefined])));
      }
      await this.#record(macs);
    } finally {
      this.#forget();
    }
  }

  async #record(macs: Iterable<string>): Promise<void> {
    const hosts = new Map<string, string | undefined>();
    const bootfiles = new Map<string, string | undefined>();
    for (const mac of macs) {
      const reply = replyFor(mac, this.#options.caches);
      const uid = reply?.boot?.metadata.uid;
      hosts.set(digitsOf(mac), reply && hostLine(mac));
      bootfiles.set(digitsOf(mac), uid === undefined ? undefined : bootfileLine(mac, await this.#ukiUrl(uid)));
    }
    try {
      await this.#hosts.change(hosts);
    } finally {
      await this.#bootfiles.change(bootfiles);
    }
  }

  async #ukiUrl(bootUid: string): Promise<string> {
    const token = mintBootToken(await this.#options.bootTokenKey(), bootUid);
    return `${this.#options.settings.bootUrl}/boot/${token}/uki.efi`;
  }

  #forget(): void {
    if (this.#mustForget) this.#options.onForget();
    this.#mustForget = false;
  }

  #scheduleWrite(delayMs: number): void {
    if (this.#stopped) return;
    this.#timer ??= this.#options.clock.setTimeout(delayMs, () => {
      this.#timer = undefined;
      this.#writing = this.#writing.then(() => this.#writeChanged());
    });
  }

  async #writeChanged(): Promise<void> {
    const macs = [...this.#changed];
    this.#changed.clear();
    try {
      await this.#record(macs);
    } catch (error) {
      for (const mac of macs) this.#changed.add(mac);
      this.#options.log.error({ err: error }, 'could not write the files for dnsmasq; retrying');
      this.#scheduleWrite(retryMs);
    } finally {
      this.#forget();
    }
  }
}
