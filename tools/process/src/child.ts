import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs a program for as long as the writer of its standard input lives. When that process ends, even by SIGKILL, the kernel
 * closes the pipe, the program is killed and its leftovers are removed.
 *
 *     this process ──pipe closes──▶ watcher ──USR1──▶ supervisor ──KILL──▶ program
 *          └───────────TERM or USR2───────────────────▲    └──TERM or KILL───▲
 *
 * Only the supervisor signals the program, because only a parent knows that the process id is not reused. A request before the
 * program has an id is executed as soon as it has one. Only the program holds the channels (3 and up); if the supervisor held
 * them too, their close would not be observed.
 */
const supervise = `
leftovers=$1; asked=; orphaned=; shift
trap 'asked=TERM; kill -TERM $child 2>/dev/null' TERM
trap 'asked=KILL; kill -KILL $child 2>/dev/null' USR2
trap 'asked=KILL; orphaned=yes; kill -KILL $child 2>/dev/null' USR1
exec 9<&0
"$@" </dev/null 9<&- &
child=$!
exec 3<&- 4<&-
if [ -n "$asked" ]; then kill -$asked $child 2>/dev/null; fi
{ trap '' TERM USR2; read -r _ <&9; kill -USR1 $$ || kill -KILL $child; } >/dev/null 2>&1 &
watcher=$!
exec 9<&-
wait $child; status=$?
while kill -0 $child 2>/dev/null; do wait $child; status=$?; done
kill -KILL $watcher 2>/dev/null; wait $watcher 2>/dev/null
if [ -n "$orphaned" ] && [ -n "$leftovers" ]; then rm -rf "$leftovers"; fi
exit $status`;

const stopWithinMs = 5_000;
const pollIntervalMs = 20;

export interface Program {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Working directory. */
  readonly directory: string;
  readonly logFile: string;
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** Defaults of environment variables. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Path that is removed when this process ends without stopping the program. */
  readonly leftovers?: string | undefined;
  /** Number of two-way channels, open in the program as descriptors 3 and 4. Default: 0, at most 2. */
  readonly channels?: 0 | 1 | 2;
  /** Creates the error that `until` throws. Default: an Error. */
  readonly failure?: (message: string) => Error;
}

/** A program that ends with this process, however it ends. Its output goes to a file. */
export class Child {
  /** The exit code; null after a signal. */
  readonly exited: Promise<number | null>;
  /** The local ends of its channels, in order. */
  readonly channels: readonly Duplex[];
  readonly #process: ChildProcess;
  readonly #name: string;
  readonly #logFile: string;
  readonly #failure: (message: string) => Error;
  #running = true;

  constructor(program: Program) {
    const { name, command, args, directory, logFile, environment, leftovers = '', channels = 0 } = program;
    this.#name = name;
    this.#logFile = logFile;
    this.#failure = program.failure ?? ((message) => new Error(message));
    const log = openSync(logFile, 'a');
    this.#process = spawn('/bin/sh', ['-c', supervise, name, leftovers, command, ...args], {
      cwd: directory,
      env: { ...program.defaults, ...(environment ?? process.env) },
      stdio: ['pipe', log, log, ...Array.from({ length: channels }, () => 'pipe' as const)],
      // A separate process group: Ctrl-C in the terminal reaches this process, which stops its programs in order.
      detached: true,
    });
    closeSync(log);
    // Node makes such a pipe of a socket, which its type leaves open. Its errors only repeat that the program has ended.
    this.channels = (this.#process.stdio.slice(3) as (Duplex | null)[]).filter((channel) => channel !== null);
    for (const channel of this.channels) channel.on('error', () => {});
    this.exited = new Promise((resolve) => {
      this.#process.once('error', () => resolve(null));
      this.#process.once('exit', resolve);
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
  get lastLogLines(): string {
    try {
      return readFileSync(this.#logFile, 'utf8').trimEnd().split('\n').slice(-8).join('\n');
    } catch {
      return '';
    }
  }

  /** Waits until the check succeeds. @throws the error of the program if it ends or the time is up; the signal's reason. */
  async until(isReady: () => Promise<boolean>, withinMs: number, signal?: AbortSignal): Promise<void> {
    const deadline = performance.now() + withinMs;
    while (!(await isReady())) {
      signal?.throwIfAborted();
      if (!this.#running) throw this.#failed('ended during the start');
      if (performance.now() > deadline) throw this.#failed(`was not ready within ${withinMs / 1_000} s`);
      await sleep(pollIntervalMs);
    }
  }

  /** Sends SIGTERM, and SIGKILL after a while. */
  async stop(): Promise<void> {
    if (!this.#running) return;
    this.#process.kill('SIGTERM');
    const timer = setTimeout(() => this.#process.kill('SIGUSR2'), stopWithinMs);
    await this.exited;
    clearTimeout(timer);
  }

  /** Sends SIGKILL. */
  async kill(): Promise<void> {
    if (!this.#running) return;
    this.#process.kill('SIGUSR2');
    await this.exited;
  }

  #failed(what: string): Error {
    return this.#failure(`${this.#name} ${what}; the end of its log:\n${this.lastLogLines}`);
  }
}
