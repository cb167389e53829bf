import { createHash } from 'node:crypto';
import { runProbe } from '@metal/probe/run-probe.ts';
import type { Clock } from './clock.ts';
import { type Hardware, reportOf } from './hardware.ts';
import { type MachineIgnition, readIgnition } from './ignition.ts';
import { runScript } from './ipxe.ts';
import type { VendorProfile } from './profiles.ts';

export type Power = 'On' | 'Off' | 'PoweringOn' | 'PoweringOff';

export interface MachineTimes {
  readonly powerOnMs: number;
  readonly powerOffMs: number;
  /** From power to the first network request. */
  readonly bootMs: number;
}

/** What runs on the machine. */
export interface Running {
  readonly from: 'network' | 'disk';
  readonly role: 'probe' | 'os';
  readonly kernel: { readonly url: string; readonly bytes: number; readonly sha256: string } | undefined;
  readonly commandLine: string;
  readonly ignition: unknown;
}

export interface MachineOptions {
  readonly hardware: Hardware;
  readonly profile: VendorProfile;
  readonly ipAddress: string;
  readonly clock: Clock;
  readonly times: () => MachineTimes;
  readonly bootUrl: () => string | undefined;
}

/** Firmware waits this long between tries of a boot server that does not answer. */
const retryPauseMs = 1_000;
const fetchTries = 5;
const longestFetchMs = 30_000;

/** A machine behind a BMC: power that takes time, and a boot that fetches and runs what it is told. */
export class Machine {
  readonly hardware: Hardware;
  readonly #options: MachineOptions;
  power: Power = 'Off';
  /** On and Off as they were reached, in order. */
  readonly powerLog: ('On' | 'Off')[] = [];
  /** Every start: where it was told to boot from, and what came of it. */
  readonly bootLog: string[] = [];
  running: Running | undefined;
  /** One-time target; consumed by the next start. */
  override: string | undefined;
  bootOrder: string[] = ['Boot0001', 'Boot0002'];
  #installed: Running | undefined;
  #stopBoot = new AbortController();
  #transition: Disposable | undefined;
  readonly #watchers = new Set<() => void>();

  constructor(options: MachineOptions) {
    this.#options = options;
    this.hardware = options.hardware;
  }

  /** Called after every change; for tests that wait. */
  onChange(watcher: () => void): Disposable {
    this.#watchers.add(watcher);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) };
  }

  turnOn(): void {
    if (this.power === 'On' || this.power === 'PoweringOn') return;
    this.#become('PoweringOn', this.#options.times().powerOnMs, () => this.#start());
  }

  turnOff(): void {
    if (this.power === 'Off' || this.power === 'PoweringOff') return;
    this.#stop();
    this.#become('PoweringOff', this.#options.times().powerOffMs, () => this.#reach('Off'));
  }

  /** At once, as pulling the plug. */
  cutOff(): void {
    this.#stop();
    this.#transition?.[Symbol.dispose]();
    if (this.power !== 'Off') this.#reach('Off');
  }

  restart(): void {
    this.cutOff();
    this.turnOn();
  }

  /** Boots and timers end; nothing of the machine goes on. */
  dispose(): void {
    this.#stop();
    this.#transition?.[Symbol.dispose]();
  }

  #become(power: Power, afterMs: number, then: () => void): void {
    this.#transition?.[Symbol.dispose]();
    this.power = power;
    this.#changed();
    this.#transition = this.#options.clock.setTimeout(afterMs, then);
  }

  #reach(power: 'On' | 'Off'): void {
    this.power = power;
    this.powerLog.push(power);
    this.#changed();
  }

  #stop(): void {
    this.#stopBoot.abort(new Error('the machine lost power'));
    this.#stopBoot = new AbortController();
    this.running = undefined;
  }

  #start(): void {
    const { signal } = this.#stopBoot;
    const target = this.override;
    this.override = undefined;
    this.#reach('On');
    const boot = target === 'Pxe' || target === 'UefiHttp' ? this.#networkBoot(signal) : this.#diskBoot(signal);
    boot.catch((error: unknown) => {
      if (!signal.aborted) this.#log(`failed: ${error instanceof Error ? error.message : String(error)}`);
    });
  }

  async #diskBoot(signal: AbortSignal): Promise<void> {
    await this.#options.clock.sleep(this.#options.times().bootMs, signal);
    if (this.#installed === undefined) return this.#log('disk: no operating system');
    this.running = { ...this.#installed, from: 'disk' };
    this.#log('disk: installed operating system');
  }

  async #networkBoot(signal: AbortSignal): Promise<void> {
    const { clock, times, bootUrl } = this.#options;
    await clock.sleep(times().bootMs, signal);
    const url = bootUrl();
    if (url === undefined) return this.#log('network: no answer to DHCP');
    const end = await this.#follow(`${url}/ipxe/${this.hardware.uuid}`, signal);
    if (end === undefined || end.kind !== 'boot') {
      this.#log(`network: ${end === undefined ? 'no boot script' : 'sent to the next device'}`);
      return this.#diskBoot(signal);
    }
    await this.#run(end, signal);
  }

  /** Runs scripts until one boots something or gives up. */
  async #follow(first: string, signal: AbortSignal) {
    let url = first;
    for (let hop = 0; hop < 5; hop += 1) {
      const script = await this.#fetch(url, signal);
      if (script === undefined) return undefined;
      const end = await runScript(script.toString('utf8'), {
        variables: { uuid: this.hardware.uuid },
        load: async (image) => (await this.#fetch(image, signal, 1)) !== undefined,
        sleep: (ms) => this.#options.clock.sleep(ms, signal),
      });
      if (end.kind !== 'chain') return end;
      url = end.url;
    }
    return undefined;
  }

  async #run({ kernel, commandLine }: { kernel: string; commandLine: string }, signal: AbortSignal): Promise<void> {
    const image = await this.#fetch(kernel, signal);
    const parameters = parametersIn(commandLine);
    const ignitionUrl = parameters.get('ignition.config.url');
    const ignitionText = ignitionUrl === undefined ? undefined : await this.#fetch(ignitionUrl, signal);
    if (ignitionUrl !== undefined && ignitionText === undefined)
      return this.#log('network: no ignition, the system waits for it for ever');
    const ignition = readIgnition(ignitionText?.toString('utf8'));
    const role = ignition.probe === undefined ? 'os' : 'probe';
    const digest =
      image === undefined
        ? undefined
        : { url: kernel, bytes: image.length, sha256: createHash('sha256').update(image).digest('hex') };
    this.running = { from: 'network', role, kernel: digest, commandLine, ignition: ignition.document };
    this.#log(`network: ${role}`);
    if (ignition.probe !== undefined) return this.#probe(ignition.probe, signal);
    this.#installed = this.running;
    const evidence = parameters.get('metal.boot.evidence');
    if (evidence !== undefined) await this.#fetch(evidence, signal, fetchTries, 'POST');
  }

  async #probe(
    { registryUrl, serverUuid, token }: NonNullable<MachineIgnition['probe']>,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, profile, ipAddress } = this.#options;
    const report = reportOf(this.hardware, profile, ipAddress);
    await runProbe({
      registryUrl,
      systemUUID: serverUuid,
      token,
      report,
      clock,
      signal,
      attemptTimeoutMs: longestFetchMs,
    });
    this.#log('probe: reported');
  }

  /** Fetches as firmware does: a few tries, then it gives up. A refusal by the server is final. */
  async #fetch(
    url: string,
    signal: AbortSignal,
    tries = fetchTries,
    method: 'GET' | 'POST' = 'GET',
  ): Promise<Buffer | undefined> {
    for (let attempt = 1; attempt <= tries; attempt += 1) {
      signal.throwIfAborted();
      try {
        const response = await fetch(url, {
          method,
          signal: AbortSignal.any([signal, AbortSignal.timeout(longestFetchMs)]),
        });
        const body = Buffer.from(await response.arrayBuffer());
        if (response.ok) return body;
        this.#log(`${method} ${withoutToken(url)}: ${response.status}`);
        if (response.status < 500 && response.status !== 404 && response.status !== 429) return undefined;
      } catch (error) {
        signal.throwIfAborted();
        this.#log(`${method} ${withoutToken(url)}: ${error instanceof Error ? error.message : String(error)}`);
      }
      await this.#options.clock.sleep(retryPauseMs, signal);
    }
    return undefined;
  }

  #log(line: string): void {
    this.bootLog.push(line);
    this.#changed();
  }

  #changed(): void {
    for (const watcher of this.#watchers) watcher();
  }
}

const withoutToken = (url: string): string => url.replace(/\/boot\/[^/]+\//, '/boot/***/');

function parametersIn(commandLine: string): Map<string, string> {
  return new Map(
    commandLine.split(/\s+/).map((word) => {
      const equals = word.indexOf('=');
      return equals < 0 ? [word, ''] : [word.slice(0, equals), word.slice(equals + 1)];
    }),
  );
}
