import { freePort } from '@metal/controlplane/free-port.ts';
import { type LaunchedOperator, launchOperator, startOperatorProcess } from '@metal/project/operator-process.ts';
import { filledIn, inShell, type Placeholder } from './command-line.ts';
import type { OperatorFlagSet } from './operator-flag-sets.ts';

/** The operator to measure, with its flags. */
export interface OperatorChoice {
  /** A command line; words in braces are filled in. */
  readonly command: string;
  readonly flagSet: OperatorFlagSet;
  readonly environment?: NodeJS.ProcessEnv | undefined;
}

/** Ports of one replica, the same after a restart. */
export type Ports = Readonly<Record<'registryPort' | 'metricsPort' | 'healthPort' | 'eventPort' | 'bootPort', string>>;

export async function freePorts(): Promise<Ports> {
  const port = async () => String(await freePort());
  const registryPort = await port();
  const metricsPort = await port();
  return { registryPort, metricsPort, healthPort: await port(), eventPort: await port(), bootPort: await port() };
}

/** User and ports of a replica, for starts and restarts. */
export interface ReplicaConfig {
  /** Requests are counted by it. */
  readonly user: string;
  readonly kubeconfigPath: string;
  readonly ports: Ports;
}

export interface MeasuredOperatorOptions {
  readonly replicaConfig: ReplicaConfig;
  readonly paths: Readonly<Record<Exclude<Placeholder, keyof Ports | 'kubeconfig'>, string>>;
  readonly moreFlags: readonly string[];
  /** For an operator without a readiness log line: resolves when its requests show that it works. */
  readonly untilWorking: (signal: AbortSignal) => Promise<void>;
  /** Receives its log lines. */
  readonly onLine: (line: string) => void;
}

/** A measured operator. */
export interface MeasuredOperator extends LaunchedOperator {
  readonly replicaConfig: ReplicaConfig;
  /** From the start of its process until its caches were warm. */
  readonly warmAfterSeconds: number;
}

/** Starts an operator and waits until it is ready. @throws Error with the end of its log if it ends before. */
export async function startMeasured(
  choice: OperatorChoice,
  options: MeasuredOperatorOptions,
): Promise<MeasuredOperator> {
  const { replicaConfig, paths, moreFlags, untilWorking, onLine } = options;
  const line = [choice.command, ...choice.flagSet.flags, ...moreFlags].join(' ');
  const command = inShell(
    filledIn(line, { ...replicaConfig.ports, kubeconfig: replicaConfig.kubeconfigPath, ...paths }),
  );
  const launchOptions = { environment: choice.environment, onLine };
  const startedAt = performance.now();
  const launched = choice.flagSet.isOurs
    ? await startOperatorProcess({ ...launchOptions, command })
    : await startForeign(launchOperator({ ...launchOptions, command }), untilWorking);
  return { ...launched, replicaConfig, warmAfterSeconds: (performance.now() - startedAt) / 1_000 };
}

const readyWithinMs = 120_000;

async function startForeign(
  launched: LaunchedOperator,
  untilWorking: MeasuredOperatorOptions['untilWorking'],
): Promise<LaunchedOperator> {
  const stop = new AbortController();
  void launched.ended.then((code) => stop.abort(failed(launched, `ended with code ${code}`)));
  const timer = setTimeout(
    () => stop.abort(failed(launched, `watched no servers within ${readyWithinMs / 1_000} s`)),
    readyWithinMs,
  );
  try {
    await untilWorking(stop.signal);
    return launched;
  } catch (error) {
    await launched.kill();
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }
}

const failed = ({ log }: LaunchedOperator, what: string): Error =>
  new Error(`the operator ${what}:\n${log.slice(-20).join('\n')}`);
