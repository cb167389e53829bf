import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

/** Of this checkout. */
export const ownCommand = fileURLToPath(new URL('../../../node_modules/.bin/metal-operator', import.meta.url));
const readyWithinMs = 60_000;
const mostLines = 10_000;

/** An operator in a process of its own, whoever wrote it. */
export interface LaunchedOperator extends AsyncDisposable {
  readonly pid: number;
  /** What it said, the latest part. */
  readonly log: readonly string[];
  /** Its exit code, when it has ended. */
  readonly ended: Promise<number | null>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** The operator in a process of its own, as users run it. */
export interface OperatorProcess extends LaunchedOperator {
  readonly bootUrl: string;
  readonly registryUrl: string;
  readonly metadataUrl: string;
  /** Its name on the lease. */
  readonly identity: string;
}

export interface LaunchOptions {
  /** Program and arguments. It has to stay the process that it is started as: its id is what is measured and signalled. */
  readonly command: readonly [string, ...string[]];
  readonly environment?: NodeJS.ProcessEnv | undefined;
  readonly onLine?: ((line: string) => void) | undefined;
}

/** Starts a program and keeps what it says on stderr; it may not be ready yet. */
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
  /** Another whole command line, in the place of this checkout's with the flags; it has to ask for lines of JSON. */
  readonly command?: LaunchOptions['command'];
}

/** Starts it and waits until it says that it is running. */
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
