import { stripVTControlCharacters } from 'node:util';

const maxLines = 1_000;

/** The serial output of a machine, through all its starts, without terminal control sequences. */
export class SerialConsole {
  readonly #lines: string[] = [];
  readonly #watchers = new Set<(line: string) => void>();
  #rest = '';

  /** The newest lines, oldest first; the last may be incomplete. */
  last(count = maxLines): readonly string[] {
    const open = cleaned(this.#rest);
    return [...this.#lines, ...(open === '' ? [] : [open])].slice(-count);
  }

  /** Called for each complete line. */
  onLine(watcher: (line: string) => void): Disposable {
    this.#watchers.add(watcher);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) };
  }

  /** Resolves with the first line that matches, also an earlier one; rejects with the signal's reason. */
  async waitForLine(pattern: RegExp, signal: AbortSignal): Promise<string> {
    const existing = this.last().find((line) => pattern.test(line));
    if (existing !== undefined) return existing;
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const onAbort = () => reject(signal.reason);
    using _watch = this.onLine((line) => pattern.test(line) && resolve(line));
    signal.addEventListener('abort', onAbort, { once: true });
    return await promise.finally(() => signal.removeEventListener('abort', onAbort));
  }

  write(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines.map(cleaned)) {
      this.#lines.push(line);
      if (this.#lines.length > maxLines) this.#lines.shift();
      for (const watcher of this.#watchers) watcher(line);
    }
  }
}

/** OVMF sets the screen mode with a sequence that Node does not strip. */
const screenMode = '\u001B[=3h';

/** As displayed: without characters that were deleted or overwritten. */
function cleaned(line: string): string {
  let text = '';
  for (const letter of stripVTControlCharacters(line.replaceAll(screenMode, '')))
    text = letter === '\b' ? text.slice(0, -1) : `${text}${letter}`;
  return text.replace(/\r+$/, '').split('\r').at(-1)?.trimEnd() ?? '';
}
