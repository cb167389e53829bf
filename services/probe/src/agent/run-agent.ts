import type { ErasureOrder } from '@metal/api/wire/erasure.ts';
import { runErasure } from '../erase/run-erasure.ts';
import { fetchTrusting } from '../fetch-trusting.ts';
import type { Addresses } from '../interfaces.ts';
import { readInterfaces } from '../interfaces.ts';
import { keepReporting } from '../keep-reporting.ts';
import type { MachineFiles } from '../machine-files.ts';
import type { ProbeConfig } from '../options.ts';
import type { ProbeClock, ProbeLog, RunProgram } from '../surroundings.ts';
import { ignitionUrl } from './ignition-url.ts';
import { type Orders, ordersFrom } from './orders.ts';

export interface AgentOptions {
  clock: ProbeClock;
  signal: AbortSignal;
  /** Between 0 and 1; spreads a rack that was switched on at once. */
  random: () => number;
  /** One line for the people in front of the console. */
  say: (line: string) => void;
  fetch: typeof globalThis.fetch;
  run: RunProgram;
  addresses: () => Addresses;
  sys: MachineFiles;
  proc: MachineFiles;
  /** What DHCP told: a file for every interface with the boot file of its lease. */
  leases: MachineFiles;
  report?: typeof keepReporting;
  erase?: typeof runErasure;
}

const lookAgainAfterMs = 250;
const sayAgainAfterMs = 10_000;
const fetchDeadlineMs = 10_000;
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
const restartAfterMs = 20_000;
const idleMs = 2 ** 31 - 1;

/**
 * The life of the discovery system: wait for an address, get the orders, report or erase. It never gives up, because nobody is
 * there who would start it again; the operator switches the machine off. Ends only with the signal's reason.
 */
export async function runAgent(options: AgentOptions): Promise<never> {
  const { clock, signal, say } = options;
  for (;;) {
    await waitUntil('an address from DHCP', options, async () => hasAddress(options.addresses()));
    await sayAddresses(options);
    const orders = await getOrders(options);
    try {
      await (orders.erasure === undefined
        ? reportHardware(orders, options)
        : eraseDisks(orders, orders.erasure, options));
    } catch (error) {
      signal.throwIfAborted();
      say(`Not reported: ${messageOf(error)}`);
    }
    say(`Asking for orders anew in ${restartAfterMs / 1_000} s.`);
    await clock.sleep(restartAfterMs, signal);
  }
}

async function reportHardware(orders: ProbeConfig, options: AgentOptions): Promise<void> {
  const { say, report = keepReporting } = options;
  say(`Looking at the hardware, and up to ${orders.lldp.budgetMs / 1_000} s for neighbours on the network (LLDP).`);
  say(`The report goes to ${orders.registryUrl} as system ${orders.systemUUID}.`);
  await report(orders, { ...options, log: consoleLog(say) });
}

/** Once: what comes of it is the operator's affair, which switches the machine off. */
async function eraseDisks(
  { registryUrl, token, systemUUID, caPem }: ProbeConfig,
  order: ErasureOrder,
  { clock, signal, say, random, erase = runErasure }: AgentOptions,
): Promise<void> {
  say(
    order.mode === 'None'
      ? `Telling ${registryUrl} that this machine has started, as it ordered; no disk is touched.`
      : `ERASING ${order.disks.length} disk(s) by order of ${registryUrl}: mode ${order.mode}, attempt ${order.attempt}.`,
  );
  const fetch = caPem === undefined ? undefined : fetchTrusting(caPem);
  const log: ProbeLog = { info: (_fields, message) => say(message), warn: (_fields, message) => say(message) };
  const { state, message } = await erase({ order, registryUrl, token, systemUUID, clock, signal, log, random, fetch });
  say(
    `The order ${state.toLowerCase()}${message === '' ? '' : `: ${message}`}. The operator switches this machine off.`,
  );
  await clock.sleep(idleMs, signal);
}

async function waitUntil(what: string, { clock, signal, say }: AgentOptions, isSo: () => Promise<boolean>) {
  for (let saidAt = -Infinity; !(await isSo()); await clock.sleep(lookAgainAfterMs, signal)) {
    if (clock.now() - saidAt < sayAgainAfterMs) continue;
    saidAt = clock.now();
    say(`Waiting for ${what}.`);
  }
}

/** Addresses that a machine gives itself lead to nobody. */
const hasAddress = (addresses: Addresses): boolean =>
  Object.values(addresses)
    .flatMap((list) => list ?? [])
    .some(({ internal, address }) => !internal && !/^(fe80:|169\.254\.)/i.test(address));

async function sayAddresses({ sys, addresses, say }: AgentOptions): Promise<void> {
  for (const { name, macAddress, carrierStatus, ipAddresses } of await readInterfaces(sys, addresses()))
    say(`${name}  ${macAddress}  link ${carrierStatus}  ${ipAddresses.join(' ') || 'no address'}`);
}

/** Tries for ever; every failure is a line. */
async function getOrders(options: AgentOptions): Promise<Orders> {
  const { clock, signal, random, say } = options;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await fetchOrders(options);
    } catch (error) {
      signal.throwIfAborted();
      const jitteredMs = pauseMs * (0.5 + random() / 2);
      say(`No orders yet: ${messageOf(error)}; again in ${(jitteredMs / 1_000).toFixed(1)} s.`);
      await clock.sleep(jitteredMs, signal);
    }
  }
}

async function fetchOrders({ proc, leases, fetch, signal, say }: AgentOptions): Promise<Orders> {
  const commandLine = await proc.text('cmdline');
  const bootFiles = await Promise.all((await leases.names('.')).map((name) => leases.text(name)));
  const url = ignitionUrl(commandLine, bootFiles);
  if (url === undefined)
    throw new Error(
      'neither the kernel command line (ignition.config.url=) nor a boot file of DHCP (option 67, http or https) says where they are',
    );
  say(`Asking for orders at ${withoutToken(url)}.`);
  const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(fetchDeadlineMs)]) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`HTTP ${response.status} ${text.slice(0, 200).trim()}`.trim());
  return ordersFrom(text, commandLine);
}

/** The path holds the token of this boot, and a console is for everybody. */
const withoutToken = (url: string): string => new URL(url).origin;

const consoleLog = (say: AgentOptions['say']): ProbeLog => ({
  info: (_fields, message) => say(`${message}. Nothing more to do: the operator switches this machine off.`),
  warn: (fields, message) => say(`${message}${'error' in fields ? ` (${String(fields.error)})` : ''}`),
});

/** fetch hides the interesting part, such as ECONNREFUSED, in the cause. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
