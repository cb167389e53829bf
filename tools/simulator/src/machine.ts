import type { BootDevice, Running } from './boot.ts';
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
  /** The override it started with; undefined when it followed its boot order. */
  readonly override: string | undefined;
  /** Where what runs came from, and its kernel's address; undefined when nothing was booted, or nobody can tell. */
  from: 'network' | 'disk' | undefined;
  kernel: string | undefined;
  /** What it came to run, as far as that is known: probe, eraser, os. */
  ran?: string;
  /** Undefined while it goes on: probe, os, setup, emergency, no bootable device, lost power, and words like these. */
  outcome: string | undefined;
}

/** What firmware may boot from, by the names that boot orders are made of. */
export const bootOptions: Readonly<
  Record<string, { readonly device: BootDevice; readonly name: string; readonly path: string }>
> = {
  Boot0001: { device: 'disk', name: 'Hard Disk', path: 'PciRoot(0x0)/Pci(0x1,0x0)/NVMe(0x1)' },
  Boot0002: { device: 'pxe', name: 'PXE NIC 1 IPv4', path: 'PciRoot(0x0)/Pci(0x2,0x0)/MAC()/IPv4()' },
  Boot0003: { device: 'http', name: 'HTTP NIC 1 IPv4', path: 'PciRoot(0x0)/Pci(0x2,0x0)/MAC()/IPv4()/Uri()' },
};
const deviceOfTarget: Readonly<Record<string, BootDevice>> = { Pxe: 'pxe', UefiHttp: 'http', Hdd: 'disk', Cd: 'cd' };

/** What firmware tries, in turn: what the override says, then the boot order. */
export function bootDevicesOf({ override, bootOrder }: Pick<Machine, 'override' | 'bootOrder'>): BootDevice[] {
  const ordered = bootOrder.flatMap((name) => bootOptions[name]?.device ?? []);
  const first = override === undefined ? undefined : deviceOfTarget[override.target];
  return first === undefined ? ordered : [first, ...ordered.filter((device) => device !== first)];
}

/** BIOS attributes of a machine that nobody has set anything of. */
export const factoryBios: Readonly<Record<string, unknown>> = {
  BootMode: 'Uefi',
  LogicalProc: 'Enabled',
  WorkloadProfile: 'Balanced',
};
export const factoryBootOrder: readonly string[] = ['Boot0001'];

/** What firmware does at a start with what was asked of it before; its boot order goes with its settings. */
export function startBios(
  machine: Pick<Machine, 'biosAttributes' | 'pendingBiosAttributes' | 'biosReset' | 'bootOrder'>,
): void {
  const isReset = machine.biosReset === 'pending';
  machine.biosAttributes = { ...(isReset ? factoryBios : machine.biosAttributes), ...machine.pendingBiosAttributes };
  machine.pendingBiosAttributes = {};
  if (!isReset) return;
  machine.biosReset = 'none';
  machine.bootOrder = [...factoryBootOrder];
}

/** A machine behind a BMC, as the BMC and people in the aisle see it; simulated, or a real one in QEMU. */
export interface Machine {
  readonly hardware: Hardware;
  /** Identifier of the system in Redfish. */
  readonly systemId: string;
  /** On and Off as they were reached, in order. */
  readonly powerLog: readonly ('On' | 'Off')[];
  /** What is known of every start, in words. */
  readonly bootLog: readonly string[];
  readonly boots: readonly BootRecord[];
  /** What the machine asked the network for, as far as it tells. */
  readonly requests: readonly MachineRequest[];
  readonly power: Power;
  /** What runs, as far as the machine tells. */
  readonly running: Running | undefined;
  /** Undefined where the BMC has none. */
  readonly virtualMedia: VirtualMedia | undefined;
  /** What it says on its serial line; undefined where there is none. */
  readonly serial: SerialConsole | undefined;
  override: Override | undefined;
  /** Mode of the override, where the system knows modes. */
  overrideMode: string | undefined;
  bootOrder: string[];
  led: 'Off' | 'Lit' | 'Blinking';
  assetTag: string;
  biosAttributes: Record<string, unknown>;
  /** Wishes that come true at the next start. */
  pendingBiosAttributes: Record<string, unknown>;
  /** pending: at the next start the attributes are those of the factory; stuck: that never comes about. */
  biosReset: 'none' | 'pending' | 'stuck';

  /** Called after every change; for those that wait. */
  onChange(watcher: () => void): Disposable;
  turnOn(): void;
  /** As the power button does: what runs is asked to end. */
  turnOff(): void;
  /** Nobody asks the system. */
  forceOff(): void;
  /** At once, as pulling the plug. */
  cutOff(): void;
  /** Off and on again; the log shows both. */
  restart(): void;
  /** What runs is asked to end, then on again. */
  restartGracefully(): void;
  /** As a machine that was in use before anybody looked: on before the operator comes. */
  setInUse(): void;
  /** The disks are empty again. */
  erase(): void;
  /** Nothing happens on it any more, its power button is not heard, and it is On; through all its starts, until `heal`. */
  hang(): void;
  /** Its network swallows what it sends, DHCP included, and it gets nothing; through all its starts, until `heal`. */
  loseNetwork(): void;
  /** It goes on where it hung, and has its network again. */
  heal(): void;
  /** Something visible was changed from outside. */
  touch(): void;
  /** Nothing of the machine goes on, and nothing is left of it. */
  dispose(): Promise<void>;
}

/** A drive that a BMC shows to its machine. */
export interface VirtualMedia {
  /** Address of the image in it; undefined while it is empty. */
  readonly image: string | undefined;
  /** Fetches the image and puts it in. @throws Error when it cannot be fetched. */
  insert(image: string): Promise<void>;
  eject(): Promise<void>;
}
