import { networkInterfaces } from 'node:os';
import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import { readBootMode } from './boot-mode.ts';
import { readDisks } from './disks.ts';
import { type Addresses, portsWithCarrier, readInterfaces } from './interfaces.ts';
import { waitForNeighbours } from './lldp-wait.ts';
import { machineFiles } from './machine-files.ts';
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
 * Looks at the machine this runs on. Every part is looked at on its own: what cannot be read is left empty and logged,
 * and never takes its neighbours with it.
 */
export async function collect(options: CollectOptions): Promise<ProbeReport> {
  const {
    clock,
    signal,
    log,
    run,
    addresses = networkInterfaces,
    lldp = { intervalMs: 5_000, budgetMs: 30_000 },
  } = options;
  const sys = machineFiles(options.sysRoot ?? '/sys');
  const proc = machineFiles(options.procRoot ?? '/proc');
  const udev = machineFiles(options.runRoot ?? '/run');
  const usr = machineFiles(options.usrRoot ?? '/usr');
  const orNone = <T>(section: string, reading: Promise<T[]>): Promise<T[]> =>
    reading.catch((error: unknown) => {
      signal.throwIfAborted();
      log.warn({ section, error: String(error) }, 'could not read a section; reporting without it');
      return [];
    });

  const neighbours = orNone(
    'lldp',
    waitForNeighbours({ run, clock, signal, log, expectedPorts: () => portsWithCarrier(sys), ...lldp }),
  );
  const systemInfo = await readSystemInfo(sys);
  const boot = await readBootMode(sys);
  const cpu = await orNone('cpu', readProcessors(proc));
  const memory = await orNone('memory', readMemoryModules(sys));
  const nics = await orNone('nics', readNics(sys, { run, signal }));
  const pciDevices = await orNone('pciDevices', readPciDevices(sys, usr));
  // Addresses, links and disks last: DHCP, autonegotiation and controllers that scan may have needed the time.
  const found = await neighbours;
  const storage = await orNone('storage', readDisks(sys, udev, { run, signal }));
  const interfaces = await orNone('networkInterfaces', readInterfaces(sys, addresses()));
  const timestamp = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    timestamp,
    systemInfo,
    boot,
    cpu,
    networkInterfaces: interfaces,
    lldp: found,
    storage,
    memory,
    nics,
    pciDevices,
  };
}
