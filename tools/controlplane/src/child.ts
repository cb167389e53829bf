import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { ControlPlaneError } from './errors.ts';

/**
 * Keeps the program as long as the writer of our standard input lives: when that ends, however it ended, the program
 * is killed. The kernel closes the pipe of a process that was killed with SIGKILL, so nothing stays behind even then.
 */
const supervise = `
trap : TERM INT
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ cat <&3 >/dev/null; kill -KILL $child; } 2>/dev/null &
exec 3<&-
while kill -0 $child 2>/dev/null; do wait $child; status=$?; done
exit $status`;

const stopWithinMs = 3_000;

/** A program that ends with this process. Its output goes to a file. */
export class Child {
  readonly #process: ChildProcess;
  readonly #name: string;
  readonly #logFile: string;
  readonly exited: Promise<number | null>;
  #running = true;

  constructor({
    name,
    command,
    args,
    directory,
    logFile,
  }: {
    name: string;
    command: string;
    args: readonly string[];
    /** Where it runs. */
    directory: string;
    logFile: string;
  }) {
    this.#name = name;
    this.#logFile = logFile;
    const log = openSync(logFile, 'a');
    this.#process = spawn('/bin/sh', ['-c', supervise, name, command, ...args], {
      cwd: directory,
      stdio: ['pipe', log, log],
      detached: true,
    });
    closeSync(log);
    this.exited = new Promise((resolve) => {
      this.#process.once('error', () => resolve(null));
      this.#process.once('exit', (code) => resolve(code));
    });
    void this.exited.then(() => {
      this.#running = false;
      this.#process.stdin?.destroy();
    });
  }

  get running(): boolean {
    return this.#running;
  }

  /** The end of its log, for messages. */
  get lastWords(): string {
    try {
      return readFileSync(this.#logFile, 'utf8').trimEnd().split('\n').slice(-8).join('\n');
    } catch {
      return '';
    }
  }

  /** Waits for the check to hold. @throws ControlPlaneError when the program ends or time is up. */
  async until(isReady: () => Promise<boolean>, withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    while (!(await isReady())) {
      if (!this.#running)
        throw new ControlPlaneError('StartFailed', `${this.#name} ended while starting:\n${this.lastWords}`);
      if (performance.now() > deadline)
        throw new ControlPlaneError(
          'StartFailed',
          `${this.#name} was not ready within ${withinMs / 1_000} s:\n${this.lastWords}`,
        );
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Asks it to end, and makes it end after a while. */
  async stop(): Promise<void> {
    if (!this.#running) return;
    this.#signal('SIGTERM');
    const timer = setTimeout(() => this.#signal('SIGKILL'), stopWithinMs);
    await this.exited;
    clearTimeout(timer);
  }

  /** Ends it at once, as a crash would. */
  async kill(): Promise<void> {
    this.#signal('SIGKILL');
    await this.exited;
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#process.pid === undefined) return;
    try {
      process.kill(-this.#process.pid, signal);
    } catch {
      // It ended by itself in this very moment.
    }
  }
}
