import { truncateSync } from 'node:fs';
import { copyFile, mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Child } from '@metal/process/child.ts';
import type { Clock } from '../clock.ts';
import { type AttributeValues, factoryOf } from '../attributes/attribute-set.ts';
import { noValues, type PendingFate } from '../attributes/change-attributes.ts';
import type { Hardware } from '../hardware.ts';
import {
  type BootRecord,
  factoryBootOrder,
  type Flash,
  type Machine,
  type Override,
  type Power,
  startBios,
} from '../machine.ts';
import type { VendorProfile } from '../profiles.ts';
import { qemuCommand } from './arguments.ts';
import { bootSequence, cdDevice, diskDevice, networkBootOf, nicDevice } from './boot-plan.ts';
import { CdDrive } from './cd-drive.ts';
import { guestUrl } from './guest-url.ts';
import { Monitor, type MonitorEvent } from './monitor.ts';
import { dropPackets, passPackets } from './network-filter.ts';
import { hardwareOf, type QemuParts } from './parts.ts';
import type { QemuRack } from './rack.ts';
import { SerialConsole } from './serial-console.ts';

export interface QemuMachineOptions {
  readonly rack: QemuRack;
  readonly parts: QemuParts;
  /** Identifier of the system in Redfish. */
  readonly systemId: string;
  readonly profile: VendorProfile;
  readonly clock: Clock;
  readonly bootUrl: () => string | undefined;
  readonly fetch: typeof globalThis.fetch;
}

/** One process of QEMU: from power on to power off. */
interface Run {
  readonly child: Child;
  readonly monitor: Monitor;
  /** The monitor has answered: the machine has power. */
  isUp: boolean;
  /** The reason of the exit, when QEMU has reported it. */
  reason: string | undefined;
  /** The BMC has stopped it. */
  isKilled: boolean;
  /** Its network is disabled. */
  isDisconnected: boolean;
}

/** Outcomes by QEMU's reason of a shutdown; without a reason it was killed, and the machine lost power. */
const outcomes: Readonly<Record<string, string>> = {
  'guest-shutdown': 'powered itself off',
  'guest-panic': 'panicked',
};

/**
 * A real machine with a BMC: it has power while its QEMU process runs. Its disks and firmware variables stay through all its
 * starts.
 *
 *     turnOn ─► PoweringOn ─ the monitor answers ─► On ─┬─ process exits, for any reason ─► Off
 *                                                       └─ guest resets ─► On: a new entry in boots
 *
 * The running system is not observed: `running`, `requests` and the source of a boot stay unknown; see `serial`.
 */
export class QemuMachine implements Machine {
  readonly hardware: Hardware;
  readonly systemId: string;
  readonly powerLog: ('On' | 'Off')[] = [];
  readonly bootLog: string[] = [];
  readonly boots: BootRecord[] = [];
  readonly requests = [];
  readonly running = undefined;
  readonly virtualMedia: CdDrive;
  readonly serial = new SerialConsole();
  power: Power = 'Off';
  override: Override | undefined;
  overrideMode: string | undefined;
  bootOrder: string[] = [...factoryBootOrder];
  led: 'Off' | 'Lit' | 'Blinking' = 'Off';
  assetTag = '';
  readonly factoryBios: AttributeValues;
  biosAttributes: AttributeValues;
  pendingBiosAttributes: AttributeValues = noValues;
  pendingFate: PendingFate = 'apply';
  biosReset: Machine['biosReset'] = 'none';
  biosVersion: string;
  pendingFlashes: readonly Flash[] = [];
  isFlashing = false;
  isBroken = false;
  readonly #options: QemuMachineOptions;
  readonly #directory: string;
  readonly #watchers = new Set<() => void>();
  #run: Run | undefined;
  #restartsAfterExit = false;
  #isDisposed = false;
  #isHung = false;
  #hasNetwork = true;
  /** The devices of the next reset from inside, and the pending change of them. */
  #bootSequence: readonly string[] = [];
  #sequenceUpdate: Promise<void> = Promise.resolve();

  /** With empty disks and default firmware variables. */
  static async make(options: QemuMachineOptions): Promise<QemuMachine> {
    const { rack, parts } = options;
    const directory = await mkdtemp(join(rack.directory, 'machine-'));
    await copyFile(rack.programs.ovmfVariables, join(directory, 'vars.fd'));
    for (const [number, { bytes }] of parts.disks.entries()) {
      await using file = await open(join(directory, `${diskDevice(number)}.raw`), 'w');
      await file.truncate(bytes);
    }
    return new QemuMachine(options, directory);
  }

  private constructor(options: QemuMachineOptions, directory: string) {
    this.#options = options;
    this.#directory = directory;
    this.hardware = hardwareOf(options.parts);
    this.systemId = options.systemId;
    this.overrideMode = options.profile.bootMode;
    this.biosVersion = options.profile.biosVersion;
    this.factoryBios = factoryOf(options.profile.bios);
    this.biosAttributes = this.factoryBios;
    this.virtualMedia = new CdDrive({
      file: join(directory, 'cd.iso'),
      fetch: options.fetch,
      monitor: () => this.#run?.monitor,
      onChange: () => this.#changed(),
    });
  }

  /** Files of its disks, in order; sparse. */
  get diskFiles(): readonly string[] {
    return this.#options.parts.disks.map((_, number) => join(this.#directory, `${diskDevice(number)}.raw`));
  }

  /** The variables of OVMF, kept from start to start. */
  get firmwareVariables(): string {
    return join(this.#directory, 'vars.fd');
  }

  /** The complete output of its serial console, unprocessed. */
  get serialLog(): string {
    return join(this.#directory, 'serial.log');
  }

  onChange(watcher: () => void): Disposable {
    this.#watchers.add(watcher);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) };
  }

  turnOn(): void {
    if (this.#run === undefined) this.#start();
    else if (this.power === 'PoweringOff') this.#restartsAfterExit = true;
  }

  /** The system may take its time or not react: SeaBIOS without a bootable device does not. */
  turnOff(): void {
    this.#restartsAfterExit = false;
    this.#pressButton();
  }

  forceOff(): void {
    this.#restartsAfterExit = false;
    this.#kill();
  }

  cutOff(): void {
    this.forceOff();
  }

  restart(): void {
    if (this.#run === undefined) return this.#start();
    this.#restartsAfterExit = true;
    this.#kill();
  }

  restartGracefully(): void {
    if (this.#run === undefined) return this.#start();
    this.#restartsAfterExit = true;
    this.#pressButton();
  }

  setInUse(): void {
    this.turnOn();
  }

  erase(): void {
    for (const [number, { bytes }] of this.#options.parts.disks.entries()) {
      const file = join(this.#directory, `${diskDevice(number)}.raw`);
      truncateSync(file, 0);
      truncateSync(file, bytes);
    }
  }

  hang(): void {
    this.#isHung = true;
    this.#sendCommand('stop');
  }

  loseNetwork(): void {
    this.#hasNetwork = false;
    this.#syncNetwork();
  }

  heal(): void {
    this.#isHung = false;
    this.#hasNetwork = true;
    this.#syncNetwork();
    this.#sendCommand('cont');
  }

  /** A reset from inside also follows the boot settings of the BMC, as in real machines. */
  touch(): void {
    this.#changed();
    void this.#updateBootSequence();
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    this.#restartsAfterExit = false;
    await this.#run?.child.kill();
    this.#watchers.clear();
    await rm(this.#directory, { recursive: true, force: true });
  }

  #pressButton(): void {
    this.#sendCommand('system_powerdown');
  }

  /** Sends it to QEMU when it runs; errors are logged. */
  #sendCommand(command: string): void {
    if (this.#run?.isUp === true) this.#run.monitor.do(command).catch((error: unknown) => this.#log(messageOf(error)));
  }

  #syncNetwork(): void {
    const run = this.#run;
    if (run?.isUp !== true || run.isDisconnected !== this.#hasNetwork) return;
    run.isDisconnected = !this.#hasNetwork;
    const applied = run.isDisconnected ? dropPackets(run.monitor, 'net0') : passPackets(run.monitor);
    applied.catch((error: unknown) => this.#log(messageOf(error)));
  }

  #kill(): void {
    if (this.#run === undefined) return;
    this.power = 'PoweringOff';
    this.#run.isKilled = true;
    void this.#run.child.kill();
    this.#changed();
  }

  #start(): void {
    if (this.#isDisposed) return;
    const { rack, parts, bootUrl } = this.#options;
    this.#bootSequence = bootSequence(this, parts);
    const isRestricted = parts.reaches !== undefined;
    const networkBoot = networkBootOf(this);
    const base = bootUrl();
    const file = (networkBoot === 'http' ? this.override?.httpUri : undefined) ?? (base && `${base}/ipxe`);
    const [command, args] = qemuCommand(parts, {
      programs: rack.programs,
      accelerator: rack.accelerator,
      directory: this.#directory,
      sequence: this.#bootSequence,
      networkBoot,
      bootFile: file && guestUrl(file, isRestricted),
      medium: this.virtualMedia.medium,
    });
    const child = new Child({
      name: 'qemu',
      command,
      directory: this.#directory,
      logFile: join(this.#directory, 'qemu.log'),
      channels: 2,
      args,
    });
    const [monitorChannel, serialChannel] = child.channels;
    void child.exited.then(() => this.#ended());
    this.power = 'PoweringOn';
    // Without channels the process could not be started.
    if (monitorChannel === undefined || serialChannel === undefined) return this.#changed();
    const monitor = new Monitor(monitorChannel, (event) => this.#onMonitorEvent(event));
    serialChannel.setEncoding('utf8').on('data', (text: string) => this.serial.write(text));
    this.#run = { child, monitor, isUp: false, reason: undefined, isKilled: false, isDisconnected: false };
    // It rejects when QEMU exits meanwhile, which the exit handler logs.
    void this.#bringUp(this.#run).catch(() => undefined);
    this.#changed();
  }

  async #bringUp(run: Run): Promise<void> {
    await run.monitor.do('qmp_capabilities');
    run.isUp = true;
    if (this.power === 'PoweringOn') this.power = 'On';
    this.powerLog.push('On');
    this.#beginBoot();
    await this.#updateBootSequence();
    this.#syncNetwork();
    if (!this.#isHung) await run.monitor.do('cont');
  }

  /** A one-time override is used up when the boot starts. */
  #beginBoot(): void {
    const { override } = this;
    if (override?.isOnce === true) this.override = undefined;
    startBios(this);
    for (const flash of this.pendingFlashes) flash.done();
    this.pendingFlashes = [];
    const at = this.#options.clock.now();
    this.boots.push({ at, override: override?.target, from: undefined, kernel: undefined, outcome: undefined });
    this.#changed();
  }

  #onMonitorEvent({ event, data }: MonitorEvent): void {
    if (event === 'POWERDOWN') this.#log('power button');
    if (event === 'SHUTDOWN' && this.#run !== undefined) this.#run.reason = String(data.reason);
    // QEMU halts a machine after an internal error; from outside it is on and does nothing.
    if (event === 'STOP' && !this.#isHung) this.#log('halted by an error of QEMU');
    if (event === 'RESET' && data.guest === true) {
      this.#endBoot('reset itself');
      this.#log('reset itself');
      this.#beginBoot();
      void this.#updateBootSequence();
    }
  }

  #ended(): void {
    const run = this.#run;
    this.#run = undefined;
    this.power = 'Off';
    if (run?.isUp === true) {
      const outcome = outcomes[run.reason ?? ''] ?? 'lost power';
      this.#endBoot(outcome);
      this.powerLog.push('Off');
      this.#log(outcome);
    } else if (run?.isKilled === true) this.#changed();
    else this.#log(`QEMU did not start: ${run?.child.lastLogLines ?? 'no process'}`);
    if (this.#restartsAfterExit) {
      this.#restartsAfterExit = false;
      this.#start();
    }
  }

  #endBoot(outcome: string): void {
    const record = this.boots.at(-1);
    if (record !== undefined) record.outcome ??= outcome;
  }

  /** QEMU passes the boot order to the firmware at each reset. One change after the other. */
  #updateBootSequence(): Promise<void> {
    this.#sequenceUpdate = this.#sequenceUpdate.then(async () => {
      const sequence = bootSequence(this, this.#options.parts);
      const run = this.#run;
      if (run?.isUp !== true || sequence.join() === this.#bootSequence.join()) return;
      const { nics, disks } = this.#options.parts;
      const devices = [
        ...nics.map((_, number) => nicDevice(number)),
        cdDevice,
        ...disks.map((_, number) => diskDevice(number)),
      ];
      const set = (device: string, value: number) =>
        run.monitor.do('qom-set', { path: `/machine/peripheral/${device}`, property: 'bootindex', value });
      // No two devices may have the same index, even temporarily.
      const changes = [...devices.map((device) => set(device, -1)), ...sequence.map(set)];
      await Promise.all(changes).then(
        () => (this.#bootSequence = sequence),
        (error: unknown) => this.#log(messageOf(error)),
      );
    });
    return this.#sequenceUpdate;
  }

  #log(line: string): void {
    this.bootLog.push(line);
    this.#changed();
  }

  #changed(): void {
    for (const watcher of this.#watchers) watcher();
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
