import type { AttributeValues } from './attributes/attribute-set.ts';
import { type PendingFate, started } from './attributes/change-attributes.ts';
import type { BootDevice, Running } from './boot.ts';
import type { Clock } from './clock.ts';
import type { Hardware } from './hardware.ts';
import type { MachineRequest } from './network-fetch.ts';
import type { SerialConsole } from './qemu/serial-console.ts';

export type { Running } from './boot.ts';
export type { MachineRequest } from './network-fetch.ts';

export type Power = 'On' | 'Off' | 'PoweringOn' | 'PoweringOff';

export interface Override {
  readonly target: string;
  readonly isOnce: boolean;
  readonly httpUri: string | undefined;
}

/** One start of the machine. */
export interface BootRecord {
  readonly at: number;
  /** The override of this start; undefined when the machine followed its boot order. */
  readonly override: string | undefined;
  /** The source of the running system, and the URL of its kernel; undefined when nothing was booted, or when it is unknown. */
  from: 'network' | 'disk' | undefined;
  kernel: string | undefined;
  /** The role of the booted system, if known: probe, eraser, os. */
  ran?: string;
  /** Undefined while it boots; then for example probe, os, setup, emergency, no bootable device, lost power. */
  outcome: string | undefined;
}

/** Boot devices, by their names in boot orders. */
export const bootOptions: Readonly<
  Record<string, { readonly device: BootDevice; readonly name: string; readonly path: string }>
> = {
  Boot0001: { device: 'disk', name: 'Hard Disk', path: 'PciRoot(0x0)/Pci(0x1,0x0)/NVMe(0x1)' },
  Boot0002: { device: 'pxe', name: 'PXE NIC 1 IPv4', path: 'PciRoot(0x0)/Pci(0x2,0x0)/MAC()/IPv4()' },
  Boot0003: { device: 'http', name: 'HTTP NIC 1 IPv4', path: 'PciRoot(0x0)/Pci(0x2,0x0)/MAC()/IPv4()/Uri()' },
};
const deviceOfTarget: Readonly<Record<string, BootDevice>> = { Pxe: 'pxe', UefiHttp: 'http', Hdd: 'disk', Cd: 'cd' };

/** The devices that firmware tries, in order: the override, then the boot order. */
export function bootDevicesOf({ override, bootOrder }: Pick<Machine, 'override' | 'bootOrder'>): BootDevice[] {
  const ordered = bootOrder.flatMap((name) => bootOptions[name]?.device ?? []);
  const first = override === undefined ? undefined : deviceOfTarget[override.target];
  return first === undefined ? ordered : [first, ...ordered.filter((device) => device !== first)];
}

export const factoryBootOrder: readonly string[] = ['Boot0001'];

/** Applies pending changes at a start; a reset of the settings also resets the boot order. */
export function startBios(
  machine: Pick<
    Machine,
    'factoryBios' | 'biosAttributes' | 'pendingBiosAttributes' | 'pendingFate' | 'biosReset' | 'bootOrder'
  >,
): void {
  const isReset = machine.biosReset === 'pending';
  const before = isReset ? machine.factoryBios : machine.biosAttributes;
  const { current, pending } = started(
    { current: before, pending: machine.pendingBiosAttributes },
    machine.pendingFate,
  );
  machine.biosAttributes = current;
  machine.pendingBiosAttributes = pending;
  if (machine.pendingFate === 'drop') machine.pendingFate = 'apply';
  if (!isReset) return;
  machine.biosReset = 'none';
  machine.bootOrder = [...factoryBootOrder];
}

/** A firmware that the next start of the machine installs. */
export interface Flash {
  /** Identifies the firmware. */
  readonly key: string;
  readonly version: string;
  /** Without power in this time a BIOS is destroyed. 0: it is written already. */
  readonly durationMs: number;
  /** Whether the power fails half-way. */
  losesPower(): boolean;
  begin(): void;
  done(): void;
  failed(): void;
}

/** Installs pending firmware at a start. @throws the reason of the signal, when the machine loses power. */
export async function flashPending(
  machine: Pick<Machine, 'pendingFlashes' | 'isFlashing' | 'cutOff'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const flashes = machine.pendingFlashes;
  machine.pendingFlashes = [];
  for (const flash of flashes) {
    flash.begin();
    machine.isFlashing = flash.durationMs > 0;
    try {
      await clock.sleep(flash.durationMs / 2, signal);
      if (flash.losesPower()) machine.cutOff();
      await clock.sleep(flash.durationMs / 2, signal);
      flash.done();
    } catch (error) {
      flash.failed();
      throw error;
    } finally {
      machine.isFlashing = false;
    }
  }
}

/** A machine with the operations of its BMC and of people at the rack; simulated, or a real one in QEMU. */
export interface Machine {
  readonly hardware: Hardware;
  /** Identifier of the system in Redfish. */
  readonly systemId: string;
  /** On and Off as they were reached, in order. */
  readonly powerLog: readonly ('On' | 'Off')[];
  /** The known steps of every start, as text. */
  readonly bootLog: readonly string[];
  readonly boots: readonly BootRecord[];
  /** Network requests of the machine, if known. */
  readonly requests: readonly MachineRequest[];
  readonly power: Power;
  /** The running system, if known. */
  readonly running: Running | undefined;
  /** Undefined when the BMC has none. */
  readonly virtualMedia: VirtualMedia | undefined;
  /** Its serial console; undefined when there is none. */
  readonly serial: SerialConsole | undefined;
  override: Override | undefined;
  /** Mode of the override, where the system knows modes. */
  overrideMode: string | undefined;
  bootOrder: string[];
  led: 'Off' | 'Lit' | 'Blinking';
  assetTag: string;
  readonly factoryBios: AttributeValues;
  biosAttributes: AttributeValues;
  /** BIOS attributes that take effect at the next start. */
  pendingBiosAttributes: AttributeValues;
  /** What the next start does with them. */
  pendingFate: PendingFate;
  /** pending: the next start resets the attributes to their defaults; stuck: it does not. */
  biosReset: 'none' | 'pending' | 'stuck';
  biosVersion: string;
  /** Firmware that the next start installs, in order. */
  pendingFlashes: readonly Flash[];
  /** Its BIOS is being flashed: a loss of power destroys it. */
  isFlashing: boolean;
  /** Its BIOS is destroyed: it can be switched on, and no longer boots. */
  isBroken: boolean;

  /** Called after every change. */
  onChange(watcher: () => void): Disposable;
  turnOn(): void;
  /** As with the power button: the system is asked to shut down. */
  turnOff(): void;
  /** Without a shutdown of the system. */
  forceOff(): void;
  /** Immediately, as with a pulled plug. */
  cutOff(): void;
  /** Off and on again; the log shows both. */
  restart(): void;
  /** The system is asked to shut down, then on again. */
  restartGracefully(): void;
  /** A machine that is in use before the operator discovers it: on, with an installed system. */
  setInUse(): void;
  /** The disks are empty again. */
  erase(): void;
  /** It is On, does nothing and ignores its power button; through all its starts, until `heal`. */
  hang(): void;
  /** Its network drops all packets, including DHCP; through all its starts, until `heal`. */
  loseNetwork(): void;
  /** It continues where it hung, and its network works again. */
  heal(): void;
  /** Something visible was changed from outside. */
  touch(): void;
  /** Stops the machine and removes its files. */
  dispose(): Promise<void>;
}

/** A virtual drive of a machine. */
export interface VirtualMedia {
  /** URL of the inserted image; undefined while it is empty. */
  readonly image: string | undefined;
  /** Fetches the image and inserts it. @throws Error when it cannot be fetched. */
  insert(image: string): Promise<void>;
  eject(): Promise<void>;
}
