import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { DemoFailed } from './demo-failed.ts';

export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable;
}

export interface ConfirmationOptions {
  /** The answer is yes already. */
  readonly yes: boolean;
  readonly signal: AbortSignal;
}

/** Shows the text and waits for a yes. @throws DemoFailed after any other answer, or where nobody can answer. */
export async function requireConfirmation(
  text: string,
  { input, output }: Terminal,
  options: ConfirmationOptions,
): Promise<void> {
  output.write(`${text}\n`);
  if (options.yes) return;
  if (input.isTTY !== true)
    throw new DemoFailed('nothing was changed: expected a terminal for the confirmation, or --yes', 2);
  output.write('Continue? [y/N] ');
  const answer = await firstLine(input, options.signal);
  if (!/^y(es)?$/i.test(answer.trim())) throw new DemoFailed('nothing was changed: it was not confirmed');
}

/** Empty when the input ends. */
async function firstLine(input: Readable, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const lines = createInterface({ input });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    lines.once('line', resolve);
    lines.once('close', () => resolve(''));
    return await promise;
  } finally {
    signal.removeEventListener('abort', abort);
    lines.close();
  }
}
