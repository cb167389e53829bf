import { fetchTrusting } from '@metal/probe/fetch-trusting.ts';
import { type AttributeValues, factoryOf } from './attributes/attribute-set.ts';
import { noValues, type PendingFate } from './attributes/change-attributes.ts';
import { bootFrom, noBootableDevice, type Running } from './boot.ts';
import type { Clock } from './clock.ts';
import type { EraserFault } from './eraser.ts';
import { type Hardware, reportOf } from './hardware.ts';
import {
  type BootRecord,
  bootDevicesOf,
  factoryBootOrder,
  type Flash,
  flashPending,
  type Machine,
  type Override,
  type Power,
  startBios,
} from './machine.ts';
import { MachineNetwork, type MachineRequest } from './network-fetch.ts';
import { SimulatedDisks } from './simulated-disks.ts';
import type { VendorProfile } from './profiles.ts';

export interface MachineTimes {
  /** From the command until the power is on. */
  readonly powerOnMs: number;
  readonly powerOffMs: number;
  /** From power on until firmware starts to boot. */
  readonly bootMs: number;
  /**
   * From a boot without a bootable device until firmware tries again, more than 0, as Dell's "Boot Sequence Retry" does after
   * 30 s. Undefined: the machine stops there.
   */
  readonly bootRetryMs: number | undefined;
  /** From the order to erase the disks until they are empty. */
  readonly eraseMs: number;
}

export interface SimulatedMachineOptions {
  /** Identifier of the system in Redfish. */
  readonly systemId: string;
  readonly hardware: Hardware;
  readonly profile: VendorProfile;
  readonly ipAddress: string;
  readonly clock: Clock;
  readonly times: () => MachineTimes;
  readonly bootUrl: () => string | undefined;
  /** If set, a network boot runs a probe in the firmware, which reports there without a token. */
  readonly probeRegistryUrl: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly random: () => number;
}

/** A simulated machine: power changes take time, and a boot fetches and runs its script. */
export class SimulatedMachine implements Machine {
  readonly hardware: Hardware;
  readonly systemId: string;
  /** On and Off as they were reached, in order. */
  readonly powerLog: ('On' | 'Off')[] = [];
  /** Every step of every start, as text. */
  readonly bootLog: string[] = [];
  readonly boots: BootRecord[] = [];
  power: Power = 'Off';
  running: Running | undefined;
  readonly virtualMedia = undefined;
  readonly serial = undefined;
  override: Override | undefined;
  /** Mode of the override, where the system knows modes. */
  overrideMode: string | undefined;
  bootOrder: string[] = [...factoryBootOrder];
  /** The fault of its erasures. */
  eraserFault: EraserFault | undefined;
  /** Content that deployments wrote. */
  readonly disks = new SimulatedDisks();
  led: 'Off' | 'Lit' | 'Blinking' = 'Off';
  assetTag = '';
  readonly factoryBios: AttributeValues;
  biosAttributes: AttributeValues;
  /** BIOS attributes that take effect at the next start. */
  pendingBiosAttributes: AttributeValues = noValues;
  pendingFate: PendingFate = 'apply';
  biosReset: Machine['biosReset'] = 'none';
  biosVersion: string;
  pendingFlashes: readonly Flash[] = [];
  isFlashing = false;
  isBroken = false;
  readonly #options: SimulatedMachineOptions;
  readonly #network: MachineNetwork;
  readonly #watchers = new Set<() => void>();
  #installed: Running | undefined;
  #stopBoot = new AbortController();
  /** Of a machine that hangs: resolved when it continues. */
  #healed: PromiseWithResolvers<void> | undefined;
  #hasNetwork = true;
  #transition: Disposable | undefined;

  constructor(options: SimulatedMachineOptions) {
    const { clock, profile, hardware, systemId } = options;
    this.#options = options;
    this.#network = new MachineNetwork({ clock, fetch: this.#fetch, userAgent: 'iPXE/1.21.1' });
    this.hardware = hardware;
    this.systemId = systemId;
    this.overrideMode = profile.bootMode;
    this.biosVersion = profile.biosVersion;
    this.factoryBios = factoryOf(profile.bios);
    this.biosAttributes = this.factoryBios;
  }

  /** Network requests of the machine. */
  get requests(): readonly MachineRequest[] {
    return this.#network.requests;
  }

  /** The system on the disk: the last one booted from the network, except probe and eraser. */
  get installed(): Running | undefined {
    return this.#installed;
  }

  /** Called after every change. */
  onChange(watcher: () => void): Disposable {
    this.#watchers.add(watcher);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) };
  }

  turnOn(): void {
    if (this.power === 'On' || this.power === 'PoweringOn') return;
    this.#beginTransition('PoweringOn', this.#options.times().powerOnMs, () => this.#start());
  }

  /** As with the power button: the system shuts down, then the power goes off. */
  turnOff(): void {
    if (this.#healed === undefined) this.forceOff();
  }

  /** Without a shutdown of the system: the boot ends at once, the power goes off after `powerOffMs`. */
  forceOff(): void {
    if (this.power === 'Off' || this.power === 'PoweringOff') return;
    this.#stop();
    this.#beginTransition('PoweringOff', this.#options.times().powerOffMs, () => this.#reach('Off'));
  }

  /** Immediately, as with a pulled plug. */
  cutOff(): void {
    const wasOn = this.power === 'On' || this.power === 'PoweringOff';
    this.#stop();
    this.#transition?.[Symbol.dispose]();
    if (wasOn) this.#reach('Off');
    else this.#beginTransition('Off', 0, () => {});
  }

  /** Off and on again; the log shows both. */
  restart(): void {
    this.cutOff();
    this.turnOn();
  }

  restartGracefully(): void {
    this.restart();
  }

  /** A machine that is in use before the operator discovers it: on, with a system on its disk. Not in the log. */
  setInUse(): void {
    const kernel = { url: 'file:///boot/vmlinuz', bytes: 0, sha256: '' };
    const system = {
      from: 'disk',
      role: 'os',
      kernel,
      initrd: undefined,
      commandLine: '',
      parameters: {},
      ignition: undefined,
    } as const;
    this.#installed = system;
    this.running = system;
    this.power = 'On';
    this.#changed();
  }

  /** A program wrote this system to a disk. */
  install(system: Running): void {
    this.#installed = system;
  }

  /** The disks are empty again. */
  erase(): void {
    this.#installed = undefined;
    this.disks.erase();
  }

  /** A running boot hangs when its firmware starts to boot, or not at all after that. */
  hang(): void {
    this.#healed ??= Promise.withResolvers();
  }

  /** Packets in flight arrive. */
  loseNetwork(): void {
    this.#hasNetwork = false;
  }

  heal(): void {
    this.#hasNetwork = true;
    this.#healed?.resolve();
    this.#healed = undefined;
  }

  /** Stops boots and timers. */
  async dispose(): Promise<void> {
    this.#stop();
    this.#transition?.[Symbol.dispose]();
    this.#watchers.clear();
  }

  /** Something visible was changed from outside. */
  touch(): void {
    this.#changed();
  }

  #beginTransition(power: Power, afterMs: number, then: () => void): void {
    this.#transition?.[Symbol.dispose]();
    this.power = power;
    this.#transition = this.#options.clock.setTimeout(afterMs, then);
    this.#changed();
  }

  #reach(power: 'On' | 'Off'): void {
    this.power = power;
    this.powerLog.push(power);
    this.#changed();
  }

  #stop(): void {
    this.isBroken ||= this.isFlashing;
    this.#stopBoot.abort(new Error('the machine lost power'));
    this.#stopBoot = new AbortController();
    this.running = undefined;
  }

  #start(): void {
    const { signal } = this.#stopBoot;
    startBios(this);
    const override = this.override;
    if (override?.isOnce === true) this.override = undefined;
    const record: BootRecord = {
      at: this.#options.clock.now(),
      override: override?.target,
      from: undefined,
      kernel: undefined,
      outcome: undefined,
    };
    this.boots.push(record);
    this.#reach('On');
    void this.#boot(override, record, signal).then((outcome) => {
      record.outcome ??= outcome;
      this.#changed();
    });
    signal.addEventListener('abort', () => (record.outcome ??= 'lost power'), { once: true });
  }

  /** Never rejects: a boot ends with an outcome. */
  async #boot(override: Override | undefined, record: BootRecord, signal: AbortSignal): Promise<string> {
    const { clock, times } = this.#options;
    try {
      if (this.isBroken) return 'no firmware';
      await flashPending(this, clock, signal);
      await clock.sleep(times().bootMs, signal);
      await this.#untilHealed(signal);
      if (override?.target === 'BiosSetup') return 'setup';
      const devices = bootDevicesOf({ override, bootOrder: this.bootOrder });
      for (;;) {
        const outcome = await bootFrom(devices, override?.httpUri, this.#bootEnvironment(record), signal);
        const { bootRetryMs } = times();
        if (outcome !== noBootableDevice || bootRetryMs === undefined) return outcome;
        await clock.sleep(bootRetryMs, signal);
        await this.#untilHealed(signal);
      }
    } catch (error) {
      if (signal.aborted) return 'lost power';
      this.#log(`failed: ${error instanceof Error ? error.message : String(error)}`);
      return 'failed';
    }
  }

  /** A machine that hangs does nothing until it is healed. */
  async #untilHealed(signal: AbortSignal): Promise<void> {
    await this.#healed?.promise;
    signal.throwIfAborted();
  }

  #bootEnvironment(record: BootRecord): Parameters<typeof bootFrom>[2] {
    const { clock, bootUrl, probeRegistryUrl, profile, ipAddress, random, times } = this.#options;
    return {
      uuid: this.hardware.uuid,
      clock,
      network: this.#network,
      fetchTrusting: (caPem) => (caPem === undefined ? this.#fetch : this.#whileConnected(fetchTrusting(caPem))),
      bootUrl: () => (this.#hasNetwork ? bootUrl() : undefined),
      probeRegistryUrl: () => (this.#hasNetwork ? probeRegistryUrl : undefined),
      random,
      report: () =>
        reportOf(this.hardware, {
          profile: { ...profile, biosVersion: this.biosVersion },
          ipAddress,
          now: clock.now(),
        }),
      eraser: () => ({ durationMs: times().eraseMs, fault: this.eraserFault }),
      // The registry may switch the machine off before the response arrives.
      erased: () => {
        this.erase();
        record.outcome ??= this.running?.role;
      },
      disks: this.disks,
      installed: () => this.#installed,
      install: (running) => (this.#installed = running),
      run: (running) => {
        this.running = running;
        record.from = running.from;
        record.kernel = running.kernel.url;
        record.ran = running.role;
        this.#changed();
      },
      log: (line) => this.#log(line),
    };
  }

  readonly #fetch = this.#whileConnected((...request) => this.#options.fetch(...request));

  #whileConnected(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
    return (...request) =>
      this.#hasNetwork ? fetch(...request) : Promise.reject(new TypeError('the network is lost'));
  }

  #log(line: string): void {
    this.bootLog.push(line);
    this.#changed();
  }

  #changed(): void {
    for (const watcher of this.#watchers) watcher();
  }
}
