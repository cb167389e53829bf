import { networkInterfaces } from 'node:os';
import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import { readBootMode } from './boot-mode.ts';
import { readDisks } from './disks.ts';
import { type Addresses, portsWithCarrier, readInterfaces } from './interfaces.ts';
import { waitForNeighbours } from './lldp-wait.ts';
import { type MachineFiles, machineFiles } from './machine-files.ts';
import { readMemoryModules } from './memory-modules.ts';
import { readNics } from './nics.ts';
import { readPciDevices } from './pci-devices.ts';
import { readProcessors } from './processors.ts';
import type { ProbeClock, ProbeLog, RunProgram } from './environment.ts';
import { readSystemInfo } from './system-info.ts';

export interface CollectOptions {
  clock: ProbeClock;
  signal: AbortSignal;
  log: ProbeLog;
  /** Starts `lldpctl`, `ethtool` and `smartctl`. */
  run: RunProgram;
  sysRoot?: string | undefined;
  procRoot?: string | undefined;
  runRoot?: string | undefined;
  usrRoot?: string | undefined;
  addresses?: (() => Addresses) | undefined;
  lldp?: { intervalMs: number; budgetMs: number } | undefined;
}

/**
 * Reads the hardware inventory of this machine. A section that cannot be read is logged and left empty; the other sections
 * are not affected.
 */
export async function collect(options: CollectOptions): Promise<ProbeReport> {
  const { clock, signal, run, addresses = networkInterfaces } = options;
  const sys = machineFiles(options.sysRoot ?? '/sys');
  const neighbours = readNeighbours(sys, options);
  const hardware = await readHardware(sys, options);
  // Addresses, links and disks last: DHCP, autonegotiation and controllers that scan may have needed the time.
  const lldp = await neighbours;
  const udev = machineFiles(options.runRoot ?? '/run');
  const storage = await readSection('storage', readDisks(sys, udev, { run, signal }), options);
  const interfaces = await readSection('networkInterfaces', readInterfaces(sys, addresses()), options);
  const timestamp = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  return { timestamp, ...hardware, networkInterfaces: interfaces, lldp, storage };
}

async function readHardware(
  sys: MachineFiles,
  options: CollectOptions,
): Promise<Pick<ProbeReport, 'systemInfo' | 'boot' | 'cpu' | 'memory' | 'nics' | 'pciDevices'>> {
  const proc = machineFiles(options.procRoot ?? '/proc');
  const usr = machineFiles(options.usrRoot ?? '/usr');
  return {
    systemInfo: await readSystemInfo(sys),
    boot: await readBootMode(sys),
    cpu: await readSection('cpu', readProcessors(proc), options),
    memory: await readSection('memory', readMemoryModules(sys), options),
    nics: await readSection('nics', readNics(sys, options), options),
    pciDevices: await readSection('pciDevices', readPciDevices(sys, usr), options),
  };
}

function readNeighbours(sys: MachineFiles, options: CollectOptions): Promise<ProbeReport['lldp']> {
  const { run, clock, signal, log, lldp = { intervalMs: 5_000, budgetMs: 30_000 } } = options;
  const neighbours = waitForNeighbours({
    run,
    clock,
    signal,
    log,
    expectedPorts: () => portsWithCarrier(sys),
    ...lldp,
  });
  return readSection('lldp', neighbours, options);
}

async function readSection<T>(
  section: string,
  reading: Promise<T[]>,
  { signal, log }: Pick<CollectOptions, 'signal' | 'log'>,
): Promise<T[]> {
  try {
    return await reading;
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ section, error: String(error) }, 'could not read a section; reporting without it');
    return [];
  }
}
