import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const command = fileURLToPath(new URL('../../../../node_modules/.bin/metal-operator', import.meta.url));
const readyWithinMs = 60_000;

export interface OperatorProcess extends AsyncDisposable {
  readonly bootUrl: string;
  readonly ended: Promise<number | null>;
  lastWords(): string;
}

/** Starts `metal-operator` as anybody would, and waits until it says that it is running. */
export async function startOperator(flags: readonly string[]): Promise<OperatorProcess> {
  const child = spawn(command, flags, { stdio: ['ignore', 'ignore', 'pipe'] });
  const lines: string[] = [];
  const running = Promise.withResolvers<string>();
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line);
    if (lines.length > 20) lines.shift();
    const bootUrl = line.includes('"msg":"running"') ? /"bootUrl":"([^"]+)"/.exec(line)?.[1] : undefined;
    if (bootUrl !== undefined) running.resolve(bootUrl);
  });
  const ended = once(child, 'exit').then(([code]) => (typeof code === 'number' ? code : null));
  void ended.then((code) => running.reject(new Error(`the operator ended with code ${code}:\n${lines.join('\n')}`)));
  const timer = setTimeout(
    () =>
      running.reject(new Error(`the operator was not running within ${readyWithinMs / 1_000} s:\n${lines.join('\n')}`)),
    readyWithinMs,
  );
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await ended;
  };
  try {
    return {
      bootUrl: await running.promise,
      ended,
      lastWords: () => lines.slice(-3).join('\n'),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
