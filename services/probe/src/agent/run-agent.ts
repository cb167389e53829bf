import type { DeploymentOrder } from '@metal/api/wire/deployment.ts';
import type { ErasureOrder } from '@metal/api/wire/erasure.ts';
import { runDeployment } from '../deploy/run-deployment.ts';
import { runErasure } from '../erase/run-erasure.ts';
import { fetchTrusting } from '../fetch-trusting.ts';
import type { Addresses } from '../interfaces.ts';
import { readInterfaces } from '../interfaces.ts';
import { keepReporting } from '../keep-reporting.ts';
import type { MachineFiles } from '../machine-files.ts';
import type { ProbeConfig } from '../options.ts';
import type { ProbeClock, ProbeLog, RunProgram } from '../environment.ts';
import { ignitionUrl } from './ignition-url.ts';
import { type Orders, ordersFrom } from './orders.ts';

export interface AgentOptions {
  clock: ProbeClock;
  signal: AbortSignal;
  /** Between 0 and 1; jitter for machines that are powered on at the same time. */
  random: () => number;
  /** Writes one line to the console. */
  print: (line: string) => void;
  fetch: typeof globalThis.fetch;
  run: RunProgram;
  addresses: () => Addresses;
  sys: MachineFiles;
  proc: MachineFiles;
  /** A file for each network interface, with the boot file of its DHCP lease. */
  leases: MachineFiles;
  report?: typeof keepReporting;
  erase?: typeof runErasure;
  deploy?: typeof runDeployment;
}

const pollIntervalMs = 250;
const printIntervalMs = 10_000;
const fetchDeadlineMs = 10_000;
const firstPauseMs = 1_000;
const maxPauseMs = 30_000;
const restartAfterMs = 20_000;
const idleMs = 2 ** 31 - 1;

/**
 * Main loop of the discovery system: wait for an address, fetch the orders, report, erase or deploy. It retries without a limit,
 * because nothing restarts it; the operator powers the machine off. Ends only with the signal's reason.
 */
export async function runAgent(options: AgentOptions): Promise<never> {
  const { clock, signal, print } = options;
  for (;;) {
    await waitUntil('an address from DHCP', options, async () => hasAddress(options.addresses()));
    await printAddresses(options);
    const { orders, ignitionUrl } = await getOrders(options);
    const { erasure, deployment } = orders;
    try {
      if (erasure !== undefined) await eraseDisks(orders, erasure, options);
      else if (deployment !== undefined) await deployImage({ ...orders, ignitionUrl }, deployment, options);
      else await reportHardware(orders, options);
    } catch (error) {
      signal.throwIfAborted();
      print(`Failed: ${messageOf(error)}`);
    }
    print(`Fetching orders again in ${restartAfterMs / 1_000} s.`);
    await clock.sleep(restartAfterMs, signal);
  }
}

async function reportHardware(orders: ProbeConfig, options: AgentOptions): Promise<void> {
  const { print, report = keepReporting } = options;
  print(`Reading the hardware inventory; waiting up to ${orders.lldp.budgetMs / 1_000} s for LLDP neighbours.`);
  print(`Reporting to ${orders.registryUrl} as system ${orders.systemUUID}.`);
  await report(orders, { ...options, log: consoleLog(print) });
}

/** Runs once: the operator evaluates the result and powers the machine off. */
async function eraseDisks(
  { registryUrl, token, systemUUID, caPem }: ProbeConfig,
  order: ErasureOrder,
  { clock, signal, print, random, erase = runErasure }: AgentOptions,
): Promise<void> {
  print(
    order.mode === 'None'
      ? `Reporting to ${registryUrl} that this machine has started; no disk is erased.`
      : `ERASING ${order.disks.length} disk(s): mode ${order.mode}, attempt ${order.attempt}, registry ${registryUrl}.`,
  );
  const fetch = caPem === undefined ? undefined : fetchTrusting(caPem);
  const log = orderLog(print);
  const { state, message } = await erase({ order, registryUrl, token, systemUUID, clock, signal, log, random, fetch });
  print(endOf(state, message));
  await clock.sleep(idleMs, signal);
}

/** Runs once: the operator powers the machine off, and starts it from its disk. */
async function deployImage(
  { registryUrl, token, systemUUID, caPem, ignitionUrl }: ProbeConfig & { ignitionUrl: string },
  order: DeploymentOrder,
  { clock, signal, print, random, fetch, deploy = runDeployment }: AgentOptions,
): Promise<void> {
  const { serial, wwid, model } = order.disk;
  print(`WRITING an image of ${order.image.sizeBytes} bytes to disk ${serial || wwid} (${model}).`);
  const fetchRegistry = caPem === undefined ? undefined : fetchTrusting(caPem);
  const services = { ignitionUrl, registryUrl, token, systemUUID, fetch, fetchRegistry };
  const { state, message } = await deploy({ order, ...services, clock, signal, log: orderLog(print), random });
  print(endOf(state, message));
  await clock.sleep(idleMs, signal);
}

const orderLog = (print: AgentOptions['print']): ProbeLog => ({
  info: (_fields, message) => print(message),
  warn: (_fields, message) => print(message),
});

const endOf = (state: string, message: string): string =>
  `The order ${state.toLowerCase()}${message === '' ? '' : `: ${message}`}. The operator powers this machine off.`;

async function waitUntil(
  description: string,
  { clock, signal, print }: AgentOptions,
  condition: () => Promise<boolean>,
) {
  for (let printedAt = -Infinity; !(await condition()); await clock.sleep(pollIntervalMs, signal)) {
    if (clock.now() - printedAt < printIntervalMs) continue;
    printedAt = clock.now();
    print(`Waiting for ${description}.`);
  }
}

/** Link-local addresses do not reach the boot service. */
const hasAddress = (addresses: Addresses): boolean =>
  Object.values(addresses)
    .flatMap((list) => list ?? [])
    .some(({ internal, address }) => !internal && !/^(fe80:|169\.254\.)/i.test(address));

async function printAddresses({ sys, addresses, print }: AgentOptions): Promise<void> {
  for (const { name, macAddress, carrierStatus, ipAddresses } of await readInterfaces(sys, addresses()))
    print(`${name}  ${macAddress}  link ${carrierStatus}  ${ipAddresses.join(' ') || 'no address'}`);
}

interface FetchedOrders {
  readonly orders: Orders;
  readonly ignitionUrl: string;
}

/** Retries without a limit and prints each failure. */
async function getOrders(options: AgentOptions): Promise<FetchedOrders> {
  const { clock, signal, random, print } = options;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      return await fetchOrders(options);
    } catch (error) {
      signal.throwIfAborted();
      const jitteredMs = pauseMs * (0.5 + random() / 2);
      print(`No orders yet: ${messageOf(error)}; retrying in ${(jitteredMs / 1_000).toFixed(1)} s.`);
      await clock.sleep(jitteredMs, signal);
    }
  }
}

async function fetchOrders({ proc, leases, fetch, signal, print }: AgentOptions): Promise<FetchedOrders> {
  const commandLine = await proc.text('cmdline');
  const bootFiles = await Promise.all((await leases.names('.')).map((name) => leases.text(name)));
  const url = ignitionUrl(commandLine, bootFiles);
  if (url === undefined)
    throw new Error(
      'expected the URL of the ignition on the kernel command line (ignition.config.url=) or an http(s) boot file from DHCP (option 67); found neither',
    );
  print(`Fetching orders from ${withoutToken(url)}.`);
  const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(fetchDeadlineMs)]) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`HTTP ${response.status} ${text.slice(0, 200).trim()}`.trim());
  return { orders: ordersFrom(text, commandLine), ignitionUrl: url };
}

/** The path contains the boot token, which must not appear on the console. */
const withoutToken = (url: string): string => new URL(url).origin;

const consoleLog = (print: AgentOptions['print']): ProbeLog => ({
  info: (_fields, message) => print(`${message}. Done; the operator powers this machine off.`),
  warn: (fields, message) => print(`${message}${'error' in fields ? ` (${String(fields.error)})` : ''}`),
});

/** fetch puts the system error, such as ECONNREFUSED, into the cause. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
