import type { Clock } from './clock.ts';
import type { FaultBoard } from './faults.ts';
import type { ImageHeader, ReceivedImage } from './firmware-image.ts';
import type { FirmwarePart, FirmwareProfile } from './firmware-profiles.ts';
import { root } from './links.ts';
import type { Flash, Machine } from './machine.ts';
import type { VendorProfile } from './profiles.ts';
import { UpdateTask } from './update-task.ts';

/** One member of FirmwareInventory. */
export interface FirmwareEntry {
  readonly id: string;
  readonly name: string;
  readonly part: FirmwarePart;
  /** Of a BIOS: its machine. */
  readonly machine: Machine | undefined;
  readonly version: string;
  readonly isStaged: boolean;
  readonly relatedItems: readonly string[];
}

/** An image that a BMC began to install. */
export interface FlashRecord {
  /** Id of the member of FirmwareInventory, without a version in it. */
  readonly component: string;
  readonly version: string;
  /** With ForceUpdate. */
  readonly isForced: boolean;
  readonly at: number;
}

export interface FirmwareOptions {
  readonly profile: VendorProfile;
  readonly rules: FirmwareProfile;
  readonly machines: readonly [Machine, ...Machine[]];
  readonly clock: Clock;
  readonly board: FaultBoard;
  /** Duration of the installation of one image. */
  readonly flashMs: number;
  /** Restarts the BMC. */
  readonly restart: () => void;
}

/** An accepted update. */
export interface AcceptedUpdate {
  readonly targetUri: string;
  /** Paths; empty: all that the image is for. */
  readonly targets: readonly string[];
  readonly isForced: boolean;
  /** Not only at the next reset. */
  readonly isImmediate: boolean;
  readonly receive: (signal: AbortSignal) => Promise<ReceivedImage>;
}

const maxTasks = 50;

/** The firmware of one BMC and its machines, and its updates. */
export class Firmware {
  readonly flashes: FlashRecord[] = [];
  readonly #options: FirmwareOptions;
  readonly #tasks = new Map<string, UpdateTask>();
  /** By the key of an entry; those that are absent have the version of the profile. */
  readonly #versions = new Map<string, string>();
  #pendingBmc: string | undefined;
  #count = 0;
  #stop = new AbortController();

  constructor(options: FirmwareOptions) {
    this.#options = options;
  }

  get bmcVersion(): string {
    return this.#versions.get('BMC') ?? this.#options.profile.firmwareVersion;
  }

  get tasks(): readonly UpdateTask[] {
    return [...this.#tasks.values()].filter(({ isHidden }) => !isHidden);
  }

  /** An update downloads or writes. */
  get isBusy(): boolean {
    return [...this.#tasks.values()].some(({ state }) => state === 'New' || state === 'Running');
  }

  get entries(): FirmwareEntry[] {
    return this.#options.rules.parts.flatMap((part) => this.#entriesOf(part));
  }

  /** Begins an update. */
  start(update: AcceptedUpdate): UpdateTask {
    const { rules, clock, board } = this.#options;
    this.#count += 1;
    const task = new UpdateTask(rules.taskId(this.#count), update.targetUri, clock);
    this.#tasks.set(task.id, task);
    const [oldest] = this.#tasks.keys();
    if (this.#tasks.size > maxTasks && oldest !== undefined) this.#tasks.delete(oldest);
    if (board.consume('updateTaskVanishes', update.targetUri)) task.isHidden = true;
    void this.#run(task, update, this.#stop.signal);
    return task;
  }

  /** The BMC restarts: running updates end, and a new firmware of the BMC is active. @returns how long it stays silent, if longer. */
  onRestart(): number | undefined {
    const { rules, board } = this.#options;
    this.#stop.abort(new Error('the BMC restarted'));
    this.#stop = new AbortController();
    if (!rules.tasksSurviveRestart) this.#tasks.clear();
    if (this.#pendingBmc === undefined) return undefined;
    this.#versions.set('BMC', this.#pendingBmc);
    this.#pendingBmc = undefined;
    return board.consume('silentAfterUpdateMs', '') || undefined;
  }

  #entriesOf(part: FirmwarePart): FirmwareEntry[] {
    const { machines, profile, rules } = this.#options;
    const owners = part.kind === 'BIOS' && part.isCopy !== true ? machines : [undefined];
    return owners.flatMap((machine, index) => {
      const suffix = index === 0 ? '' : `.${index + 1}`;
      const key = keyOf(part, machine);
      const version = machine?.biosVersion ?? this.#versions.get(key) ?? part.version ?? profile.firmwareVersion;
      const relatedItems =
        machine === undefined ? relatedItemsOf(part, profile) : [`${root}/Systems/${machine.systemId}/Bios`];
      const common = { part, machine, relatedItems };
      const id = `${part.id.replace('{version}', version)}${suffix}`;
      const entry = { ...common, id, name: part.name, version, isStaged: false };
      const staged = this.#stagedVersion(key);
      if (staged === undefined) return [entry];
      const place = rules.staged(part, staged);
      return [entry, { ...common, ...place, id: `${place.id}${suffix}`, version: staged, isStaged: true }];
    });
  }

  #stagedVersion(key: string): string | undefined {
    if (key === 'BMC') return this.#pendingBmc;
    return this.#options.machines.flatMap((machine) => machine.pendingFlashes).find((flash) => flash.key === key)
      ?.version;
  }

  /** Never rejects: an update ends with its task. */
  async #run(task: UpdateTask, update: AcceptedUpdate, signal: AbortSignal): Promise<void> {
    const { board, rules } = this.#options;
    const { targets, targetUri, receive, isForced, isImmediate } = update;
    try {
      const image = await receive(signal).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new Error(`The image cannot be downloaded: ${messageOf(error)}.`);
      });
      signal.throwIfAborted();
      if (board.consume('downloadFails', targetUri)) throw new Error('The image cannot be downloaded: timeout.');
      const header = this.#check(image);
      const entries = this.#entriesFor(header.component, targets);
      const { version } = header;
      for (const entry of entries) await this.#install({ task, entry, version, isForced, isImmediate, signal });
      if (task.isOver) return;
      task.complete(entries.some((entry) => entry.part.kind !== 'Drive' && entry.part.kind !== 'PSU'));
      if (this.#pendingBmc !== undefined && rules.bmc === 'restarts') this.#options.restart();
    } catch (error) {
      task.fail(messageOf(error));
    }
  }

  /** @throws Error when the image is not one for these machines, or not whole. */
  #check({ header, sha256 }: ReceivedImage): ImageHeader {
    const { board, profile } = this.#options;
    if (header === undefined) throw new Error('The image is not one of a firmware.');
    const { manufacturer = profile.manufacturer, models } = header;
    if (manufacturer !== profile.manufacturer || (models !== undefined && !models.includes(profile.model)))
      throw new Error(`The image is for ${manufacturer} ${models?.join(', ') ?? ''}, not for this system.`);
    if (sha256 !== header.sha256 || board.consume('checksumFails', ''))
      throw new Error('The verification of the image failed: wrong checksum.');
    return header;
  }

  #entriesFor(component: string, targets: readonly string[]): readonly FirmwareEntry[] {
    const installed = this.entries.filter(({ isStaged, part }) => !isStaged && part.isCopy !== true);
    const fitting = installed.filter(({ id, part }) => part.kind === component || id === component);
    const isTarget = ({ id, relatedItems }: FirmwareEntry): boolean =>
      targets.length === 0 ||
      targets.some((target) =>
        [`${root}/UpdateService/FirmwareInventory/${id}`, ...relatedItems].some((path) => path.startsWith(target)),
      );
    const found = fitting.filter(isTarget);
    if (found.length === 0) throw new Error(`The image is for ${component}, which is no target.`);
    const fixed = found.find(({ part }) => !part.updateable);
    if (fixed !== undefined) throw new Error(`${fixed.name} cannot be updated.`);
    return found;
  }

  async #install(installation: Installation): Promise<void> {
    const { clock, flashMs, board, rules } = this.#options;
    const { task, version, isForced, signal } = installation;
    const { part, machine } = installation.entry;
    const key = keyOf(part, machine);
    this.flashes.push({ component: key, version, isForced, at: clock.now() });
    task.write(flashMs);
    if (board.consume('updateStuck', '')) await untilAborted(signal);
    if (machine !== undefined && rules.bios === 'written') await this.#flashByBmc(machine, signal);
    else await clock.sleep(flashMs, signal);
    if (board.consume('versionUnchanged', '')) return;
    if (part.kind === 'BMC') this.#pendingBmc = version;
    else if (part.kind === 'Drive' || part.kind === 'PSU') this.#versions.set(key, version);
    else await this.#stage(installation, key);
  }

  /** The BMC writes the chip of the BIOS, while the machine may lose power. */
  async #flashByBmc(machine: Machine, signal: AbortSignal): Promise<void> {
    const { clock, flashMs, board } = this.#options;
    machine.isFlashing = true;
    try {
      await clock.sleep(flashMs / 2, signal);
      if (board.consume('powerLostWhileFlashing', '')) machine.cutOff();
      await clock.sleep(flashMs / 2, signal);
    } finally {
      machine.isFlashing = false;
    }
    if (machine.isBroken) throw new Error('The system lost power while its BIOS was flashed.');
  }

  /** The next start of the machine runs the new firmware; where the BMC has not written a BIOS, it flashes it first. */
  async #stage({ task, entry, version, isImmediate, signal }: Installation, key: string): Promise<void> {
    const { flashMs, board, rules, machines } = this.#options;
    const machine = entry.machine ?? machines[0];
    const isBios = entry.machine !== undefined;
    const isScheduled = rules.bios === 'scheduled';
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    stage(machine, {
      key,
      version,
      durationMs: isBios && rules.bios !== 'written' ? flashMs : 0,
      losesPower: () => board.consume('powerLostWhileFlashing', ''),
      begin: () => isScheduled && task.write(flashMs),
      done: () => {
        if (isBios) machine.biosVersion = version;
        else this.#versions.set(key, version);
        resolve();
      },
      failed: () => reject(new Error('The system lost power while its BIOS was flashed.')),
    });
    promise.catch(() => undefined);
    if (!isScheduled) return;
    task.schedule();
    if (isImmediate && rules.restartsHost && machine.power === 'On') machine.restart();
    // A scheduled update outlives a restart of the BMC.
    signal.throwIfAborted();
    await promise;
  }
}

interface Installation {
  readonly task: UpdateTask;
  readonly entry: FirmwareEntry;
  readonly version: string;
  readonly isForced: boolean;
  readonly isImmediate: boolean;
  readonly signal: AbortSignal;
}

const keyOf = (part: FirmwarePart, machine: Machine | undefined): string =>
  part.kind === 'BMC' && part.isCopy !== true
    ? 'BMC'
    : machine === undefined
      ? part.id
      : `${part.kind}/${machine.systemId}`;

/** Replaces what is pending for the same firmware. */
function stage(machine: Machine, flash: Flash): void {
  machine.pendingFlashes = [...machine.pendingFlashes.filter(({ key }) => key !== flash.key), flash];
  machine.touch();
}

const relatedItemsOf = (part: FirmwarePart, { managerId, chassisId }: VendorProfile): string[] => {
  if (part.isCopy === true) return [];
  if (part.kind === 'BMC') return [`${root}/Managers/${managerId}`];
  return part.kind === 'PSU' || part.kind === 'CPLD' ? [`${root}/Chassis/${chassisId}`] : [];
};

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
  });

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
