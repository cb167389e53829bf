import { mintBootToken } from '@metal/api/wire/boot-token.ts';
import type { Clock } from '@metal/kube/clock.ts';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { fileNames, hostLine, ordersLine } from './dnsmasq-configuration.ts';
import { digitsOf } from './mac-address.ts';
import { type MachineCaches, machinesOf } from './machines.ts';
import { RecordFiles } from './record-files.ts';
import type { DhcpSettings } from './settings.ts';

export interface RecordKeeperOptions {
  readonly caches: MachineCaches;
  readonly settings: Pick<DhcpSettings, 'directory' | 'bootUrl'>;
  readonly bootTokenKey: () => Promise<Uint8Array>;
  /** dnsmasq should forget what is no longer written. */
  readonly onForget: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Changes come in flocks; a machine that was switched on takes longer to its first word. */
const gatherMs = 200;
/** The files of a large fleet are put together less often: that may take a tenth of the time. */
const restPerWork = 10;
const retryMs = 5_000;

/** Keeps the files that dnsmasq watches as the API server has the machines. */
export class RecordKeeper implements AsyncDisposable {
  readonly #options: RecordKeeperOptions;
  readonly #hosts: RecordFiles;
  readonly #orders: RecordFiles;
  readonly #listening = new DisposableStack();
  #timer: Disposable | undefined;
  #writing: Promise<void> = Promise.resolve();
  #stopped = false;
  #writeTookMs = 0;

  constructor(options: RecordKeeperOptions) {
    this.#options = options;
    const { caches, settings } = options;
    this.#hosts = new RecordFiles(join(settings.directory, fileNames.hosts));
    this.#orders = new RecordFiles(join(settings.directory, fileNames.options));
    const later = () => this.#writeIn(Math.max(gatherMs, restPerWork * this.#writeTookMs));
    for (const cache of [caches.servers, caches.inventories, caches.endpoints, caches.bootConfigurations])
      this.#listening.use(cache.onChange(later));
  }

  /** Writes what is known now. */
  async write(): Promise<void> {
    const { caches, onForget, clock } = this.#options;
    const begunAt = clock.now();
    const machines = machinesOf(caches);
    const hosts = new Map([...machines.keys()].map((mac) => [digitsOf(mac), hostLine(mac)]));
    const orders = new Map<string, string>();
    for (const [mac, boot] of machines) {
      const uid = boot?.metadata.uid;
      if (uid !== undefined) orders.set(digitsOf(mac), ordersLine(mac, await this.#ukiUrl(uid)));
    }
    const wrote = [await this.#hosts.write(hosts), await this.#orders.write(orders)];
    if (wrote.some(({ forgets }) => forgets)) onForget();
    this.#writeTookMs = clock.now() - begunAt;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    this.#listening[Symbol.dispose]();
    this.#timer?.[Symbol.dispose]();
    await this.#writing;
  }

  async #ukiUrl(bootUid: string): Promise<string> {
    const token = mintBootToken(await this.#options.bootTokenKey(), bootUid);
    return `${this.#options.settings.bootUrl}/boot/${token}/uki.efi`;
  }

  #writeIn(delayMs: number): void {
    if (this.#stopped) return;
    this.#timer ??= this.#options.clock.setTimeout(delayMs, () => {
      this.#timer = undefined;
      this.#writing = this.#writing.then(() => this.#tryToWrite());
    });
  }

  async #tryToWrite(): Promise<void> {
    try {
      await this.write();
    } catch (error) {
      this.#options.log.error({ err: error }, 'machines could not be written for dnsmasq; trying again');
      this.#writeIn(retryMs);
    }
  }
}
