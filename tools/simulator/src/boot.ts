import { runProbe } from '@metal/probe/run-probe.ts';
import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import type { Clock } from './clock.ts';
import { deployImage } from './deployer.ts';
import { eraseDisks, type EraserFault } from './eraser.ts';
import { type MachineIgnition, readIgnition } from './ignition.ts';
import { type Artefact, runScript, type ScriptEnd } from './ipxe.ts';
import type { SimulatedDisks } from './simulated-disks.ts';
import type { MachineNetwork } from './network-fetch.ts';

/** The program that runs on the machine. */
export interface Running {
  readonly from: 'network' | 'disk';
  readonly role: 'probe' | 'eraser' | 'deployer' | 'os';
  readonly kernel: Artefact;
  readonly initrd: Artefact | undefined;
  readonly commandLine: string;
  /** Arguments of the command line; an argument without `=` has an empty value. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly ignition: unknown;
}

/** A device that firmware may boot from. */
export type BootDevice = 'disk' | 'pxe' | 'http' | 'cd';

/** Everything that a boot uses, so that it can be aborted at any point. */
export interface BootEnvironment {
  readonly uuid: string;
  readonly clock: Clock;
  readonly network: MachineNetwork;
  /** The network, for programs that verify https with these certificates, if there are any. */
  readonly fetchTrusting: (caPem: string | undefined) => typeof globalThis.fetch;
  readonly bootUrl: () => string | undefined;
  /** If set, a network boot runs a probe in the firmware, which reports there without a token. */
  readonly probeRegistryUrl: () => string | undefined;
  readonly report: () => ProbeReport;
  readonly eraser: () => { durationMs: number; fault: EraserFault | undefined };
  readonly erased: () => void;
  readonly disks: SimulatedDisks;
  readonly random: () => number;
  readonly installed: () => Running | undefined;
  readonly install: (running: Running) => void;
  readonly run: (running: Running) => void;
  readonly log: (line: string) => void;
}

/**
 * Attempts and pauses of a machine whose boot server does not answer, as in the entry script of the boot service.
 */
const firmwareTries = 5;
const firmwarePauseMs = 5_000;
/** Ignition retries without a limit. */
const ignitionPauseMs = 5_000;
/** RestartSec of the unit of the probe. */
const restartPauseMs = 20_000;

/** The outcome of a boot without a bootable device. */
export const noBootableDevice = 'no bootable device';

/** Tries the devices in order. @returns the outcome of the boot. */
export async function bootFrom(
  devices: readonly BootDevice[],
  httpUri: string | undefined,
  env: BootEnvironment,
  signal: AbortSignal,
): Promise<string> {
  for (const device of devices) {
    const outcome = await bootAttempts[device](httpUri, env, signal);
    if (outcome !== undefined) return outcome;
  }
  env.log(noBootableDevice);
  return noBootableDevice;
}

type BootAttempt = (
  httpUri: string | undefined,
  env: BootEnvironment,
  signal: AbortSignal,
) => Promise<string | undefined>;

const bootAttempts: Readonly<Record<BootDevice, BootAttempt>> = {
  disk: async (_, env) => bootDisk(env),
  pxe: (_, env, signal) => bootNetwork(undefined, env, signal),
  http: bootNetwork,
  // Simulated machines have no drive.
  cd: async () => undefined,
};

function bootDisk({ installed, run, log }: BootEnvironment): string | undefined {
  const system = installed();
  if (system === undefined) {
    log('disk: no operating system');
    return undefined;
  }
  run({ ...system, from: 'disk' });
  log('disk: installed operating system');
  return 'os';
}

async function bootNetwork(
  uri: string | undefined,
  env: BootEnvironment,
  signal: AbortSignal,
): Promise<string | undefined> {
  const registryUrl = env.probeRegistryUrl();
  if (registryUrl !== undefined) return runFirmwareProbe(registryUrl, env, signal);
  const base = env.bootUrl();
  if (uri === undefined && base === undefined) {
    env.log('network: no answer to DHCP');
    return undefined;
  }
  const end = await followScripts(uri ?? `${base}/ipxe/${env.uuid}`, env, signal);
  if (end?.kind === 'boot') return runImage(end, env, signal);
  env.log(`network: ${end === undefined ? 'no boot script' : `the script ended, ${end.reason}`}`);
  return undefined;
}

/** Needs no boot service: nothing is fetched, and the registry has to accept reports without a token. */
async function runFirmwareProbe(registryUrl: string, env: BootEnvironment, signal: AbortSignal): Promise<string> {
  env.run(firmwareProbe);
  env.log('firmware: probe');
  await probe({ registryUrl, serverUuid: env.uuid, token: undefined, caPem: undefined }, env, signal);
  return 'probe';
}

const firmwareProbe: Running = {
  from: 'network',
  role: 'probe',
  kernel: { url: 'firmware:probe', bytes: 0, sha256: '' },
  initrd: undefined,
  commandLine: '',
  parameters: {},
  ignition: undefined,
};

async function followScripts(url: string, env: BootEnvironment, signal: AbortSignal): Promise<ScriptEnd | undefined> {
  const { network, clock } = env;
  const text = await fetchWithRetries(url, env, signal);
  if (text === undefined) return undefined;
  if (text.startsWith('MZ')) {
    const kernel = await network.image(url, signal);
    return kernel && { kind: 'boot', kernel, commandLine: '', initrds: [] };
  }
  return runScript(text, {
    url,
    variables: { uuid: env.uuid, platform: 'efi', buildarch: 'x86_64' },
    sleep: (ms) => clock.sleep(ms, signal),
    fetchImage: (image) => network.image(image, signal),
    fetchScript: async (script) => {
      const fetched = await network.text(script, signal);
      return fetched.ok ? fetched.text : undefined;
    },
  });
}

/** Fetches as firmware does: several attempts after any response. */
async function fetchWithRetries(
  url: string,
  { network, clock, log }: BootEnvironment,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (let attempt = 1; attempt <= firmwareTries; attempt += 1) {
    const fetched = await network.text(url, signal);
    if (fetched.ok) return fetched.text;
    log(`network: no answer from ${withoutToken(url)}, attempt ${attempt} of ${firmwareTries}`);
    if (attempt < firmwareTries) await clock.sleep(firmwarePauseMs, signal);
  }
  return undefined;
}

async function runImage(end: ScriptEnd & { kind: 'boot' }, env: BootEnvironment, signal: AbortSignal): Promise<string> {
  const parameters = parametersIn(end.commandLine);
  const ignitionUrl = parameters['ignition.config.url'] ?? ignitionUrlOfUki(end.kernel.url);
  const ignition = ignitionUrl === undefined ? noIgnition : await fetchIgnition(ignitionUrl, env, signal);
  if (ignition === undefined) {
    env.log('network: no usable ignition, the system stops in its emergency shell');
    return 'emergency';
  }
  const running: Running = {
    from: 'network',
    role: isIronicAgent({ parameters }) ? 'deployer' : roleOf(ignition),
    kernel: end.kernel,
    initrd: end.initrds[0],
    commandLine: end.commandLine,
    parameters,
    ignition: ignition.document,
  };
  if (running.role === 'os') env.install(running);
  env.run(running);
  env.log(`network: ${running.role}`);
  if (ignition.probe !== undefined && ignition.erasure !== undefined)
    await erase(ignition.probe, ignition.erasure, env, signal);
  else if (ignition.probe !== undefined && ignition.deployment !== undefined)
    await deploy({ ...ignition.probe, ignitionUrl: ignitionUrl ?? '' }, ignition.deployment, { env, running, signal });
  else if (ignition.probe !== undefined) await probe(ignition.probe, env, signal);
  else await reportBooted(parameters['metal.boot.evidence'], env, signal);
  return running.role;
}

function roleOf({ probe, erasure, deployment }: MachineIgnition): Running['role'] {
  if (probe === undefined) return 'os';
  if (erasure !== undefined) return 'eraser';
  return deployment === undefined ? 'probe' : 'deployer';
}

/** The ramdisk of OpenStack Ironic; its arguments depend on its work. */
export const isIronicAgent = ({ parameters }: Pick<Running, 'parameters'>): boolean =>
  Object.keys(parameters).some((name) => name.startsWith('ipa-'));

/** A UKI has no arguments: it finds its ignition beside the boot file of DHCP, if that belongs to a boot. */
const ignitionUrlOfUki = (url: string): string | undefined =>
  /\/boot\/[^/]+\/uki\.efi$/.test(url) ? new URL('ignition', url).href : undefined;

const noIgnition: MachineIgnition = {
  document: undefined,
  probe: undefined,
  erasure: undefined,
  deployment: undefined,
};

async function fetchIgnition(
  url: string,
  { network, clock, log }: BootEnvironment,
  signal: AbortSignal,
): Promise<MachineIgnition | undefined> {
  for (;;) {
    const fetched = await network.text(url, signal);
    if (fetched.ok) return readIgnition(fetched.text);
    if (fetched.isFinal) return undefined;
    log(`ignition: no answer from ${withoutToken(url)}`);
    await clock.sleep(ignitionPauseMs, signal);
  }
}

/** Runs the probe as its unit does: a failed probe is restarted. */
async function probe(
  { registryUrl, serverUuid, token, caPem }: NonNullable<MachineIgnition['probe']>,
  env: BootEnvironment,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log } = env;
  const fetch = env.fetchTrusting(caPem);
  for (;;) {
    try {
      await runProbe({
        registryUrl,
        systemUUID: serverUuid,
        token,
        report: env.report(),
        clock,
        signal,
        fetch,
        random,
      });
      return log('probe: reported');
    } catch (error) {
      signal.throwIfAborted();
      log(`probe: ${error instanceof Error ? error.message : String(error)}`);
    }
    await clock.sleep(restartPauseMs, signal);
  }
}

async function erase(
  { registryUrl, serverUuid, token, caPem }: NonNullable<MachineIgnition['probe']>,
  order: NonNullable<MachineIgnition['erasure']>,
  env: BootEnvironment,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = env;
  const fetch = env.fetchTrusting(caPem);
  const { storage } = env.report();
  const machine = {
    registryUrl,
    token,
    systemUUID: serverUuid,
    storage,
    clock,
    fetch,
    log,
    erased: env.erased,
    ...env.eraser(),
  };
  await eraseDisks(order, machine, signal);
}

/** The machine boots the image afterwards, without a boot service. */
async function deploy(
  {
    registryUrl,
    serverUuid,
    token,
    caPem,
    ignitionUrl,
  }: NonNullable<MachineIgnition['probe']> & { ignitionUrl: string },
  order: NonNullable<MachineIgnition['deployment']>,
  { env, running, signal }: { env: BootEnvironment; running: Running; signal: AbortSignal },
): Promise<void> {
  const { clock, log, random, disks } = env;
  const deployed = (disk: string): void =>
    env.install({ ...running, role: 'os', kernel: { url: `disk:${disk}`, bytes: 0, sha256: order.image.sha256 } });
  const services = { ignitionUrl, registryUrl, token, systemUUID: serverUuid };
  const fetches = { fetch: env.fetchTrusting(undefined), fetchRegistry: env.fetchTrusting(caPem) };
  const { storage } = env.report();
  await deployImage(order, { ...services, ...fetches, storage, disks, deployed, clock, random, log }, signal);
}

/** The installed system reports once that it is up. */
async function reportBooted(
  url: string | undefined,
  { network, clock, log }: BootEnvironment,
  signal: AbortSignal,
): Promise<void> {
  if (url === undefined) return;
  for (let attempt = 1; attempt <= firmwareTries; attempt += 1) {
    const sent = await network.text(url, signal, 'POST');
    if (sent.ok) return log('os: reported that it is up');
    if (sent.isFinal) return log('os: boot report rejected');
    await clock.sleep(firmwarePauseMs, signal);
  }
}

export const withoutToken = (url: string): string => url.replace(/\/boot\/[^/]+\//, '/boot/***/');

function parametersIn(commandLine: string): Record<string, string> {
  const tokens = commandLine.split(/\s+/).filter((token) => token !== '');
  return Object.fromEntries(
    tokens.map((token) => {
      const equals = token.indexOf('=');
      return equals < 0 ? [token, ''] : [token.slice(0, equals), token.slice(equals + 1)];
    }),
  );
}
