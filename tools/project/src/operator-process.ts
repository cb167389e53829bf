import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

/** The command of this checkout. */
export const ownCommand = fileURLToPath(new URL('../../../node_modules/.bin/metal-operator', import.meta.url));
const readyWithinMs = 60_000;
const mostLines = 10_000;

/** An operator in a separate process, of this or another implementation. */
export interface LaunchedOperator extends AsyncDisposable {
  readonly pid: number;
  /** The last lines of its log. */
  readonly log: readonly string[];
  /** Resolves with its exit code. */
  readonly ended: Promise<number | null>;
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>;
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** The operator in a separate process, as users run it. */
export interface OperatorProcess extends LaunchedOperator {
  readonly bootUrl: string;
  readonly registryUrl: string;
  readonly metadataUrl: string;
  /** Its holder identity in the lease. */
  readonly identity: string;
}

export interface LaunchOptions {
  /** Program and arguments. It must not fork into the background: its process id is measured and signalled. */
  readonly command: readonly [string, ...string[]];
  readonly environment?: NodeJS.ProcessEnv | undefined;
  readonly onLine?: ((line: string) => void) | undefined;
}

/** Starts a program and keeps its stderr; does not wait until it is ready. */
export function launchOperator({
  command: [program, ...parameters],
  environment,
  onLine,
}: LaunchOptions): LaunchedOperator {
  const child = spawn(program, parameters, { stdio: ['ignore', 'ignore', 'pipe'], env: environment ?? process.env });
  const log: string[] = [];
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
    child.once('error', ({ message }) => resolve((log.push(message), null)));
  });
  createInterface({ input: child.stderr }).on('line', (line) => {
    log.push(line);
    if (log.length > mostLines) log.splice(0, mostLines / 2);
    onLine?.(line);
  });
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return ended;
  };
  return {
    pid: child.pid ?? 0,
    log,
    ended,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
    [Symbol.asyncDispose]: async () => void (await end('SIGTERM')),
  };
}

export interface OperatorProcessOptions extends Omit<LaunchOptions, 'command'> {
  readonly flags?: readonly string[];
  /** A complete command line instead of the command of this checkout with `flags`. It must select the JSON log encoder. */
  readonly command?: LaunchOptions['command'];
}

/** Starts the operator and waits until its log reports that it is running. */
export async function startOperatorProcess(options: OperatorProcessOptions): Promise<OperatorProcess> {
  const { flags = [], command = [ownCommand, ...flags, '--zap-encoder=json'], environment, onLine } = options;
  const running = Promise.withResolvers<Omit<z.output<typeof readiness>, 'msg'>>();
  const launched = launchOperator({
    command,
    environment,
    onLine: (line) => {
      const result = readiness.safeParse(parse(line));
      if (result.success) running.resolve(result.data);
      onLine?.(line);
    },
  });
  const { log, ended } = launched;
  const fail = (what: string) => running.reject(new Error(`the operator ${what}:\n${log.join('\n')}`));
  const timer = setTimeout(() => fail(`was not running within ${readyWithinMs / 1_000} s`), readyWithinMs);
  void ended.then((code) => fail(`ended with code ${code}`));
  try {
    const { bootUrl, registryUrl, metadataUrl, identity } = await running.promise;
    return { ...launched, bootUrl, registryUrl, metadataUrl, identity };
  } catch (error) {
    await launched.kill();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

const readiness = z.object({
  msg: z.literal('running'),
  bootUrl: z.string().default(''),
  registryUrl: z.string().default(''),
  metadataUrl: z.string().default(''),
  identity: z.string().default(''),
});

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}
