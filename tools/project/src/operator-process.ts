import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const command = fileURLToPath(new URL('../../../node_modules/.bin/metal-operator', import.meta.url));
const readyWithinMs = 60_000;
const mostLines = 10_000;

/** The operator in a process of its own, as users run it. */
export interface OperatorProcess extends AsyncDisposable {
  readonly pid: number;
  readonly bootUrl: string;
  readonly registryUrl: string;
  readonly metadataUrl: string;
  /** Its name on the lease. */
  readonly identity: string;
  /** What it said, the latest part. */
  readonly log: readonly string[];
  /** Its exit code, when it has ended. */
  readonly ended: Promise<number | null>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Starts it and waits until it says that it is running. */
export async function startOperatorProcess({ flags }: { flags: readonly string[] }): Promise<OperatorProcess> {
  const child = spawn(command, [...flags, '--zap-encoder=json'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const log: string[] = [];
  const exited = once(child, 'exit').then(([code]) => (typeof code === 'number' ? code : null));
  const running = Promise.withResolvers<Omit<z.output<typeof readiness>, 'msg'>>();
  createInterface({ input: child.stderr }).on('line', (line) => {
    log.push(line);
    if (log.length > mostLines) log.splice(0, mostLines / 2);
    const said = readiness.safeParse(parse(line));
    if (said.success) running.resolve(said.data);
  });
  const timer = setTimeout(
    () =>
      running.reject(new Error(`the operator was not running within ${readyWithinMs / 1_000} s:\n${log.join('\n')}`)),
    readyWithinMs,
  );
  void exited.then((code) => running.reject(new Error(`the operator ended with code ${code}:\n${log.join('\n')}`)));
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return exited;
  };
  try {
    const { bootUrl, registryUrl, metadataUrl, identity } = await running.promise;
    return {
      pid: child.pid ?? 0,
      bootUrl,
      registryUrl,
      metadataUrl,
      identity,
      log,
      ended: exited,
      kill: async () => void (await end('SIGKILL')),
      stop: () => end('SIGTERM'),
      [Symbol.asyncDispose]: async () => void (await end('SIGTERM')),
    };
  } catch (error) {
    await end('SIGKILL');
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
