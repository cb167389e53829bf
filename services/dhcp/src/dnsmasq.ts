import { type ChildProcess, execFile, spawn, type SpawnOptions } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Logger } from 'pino';
import { DhcpError } from './errors.ts';

/**
 * A supervisor that ends the program when its own standard input is closed, which the kernel does when the parent process ends,
 * also by SIGKILL. Two running dnsmasq processes could give one address to two machines.
 */
const supervise = `
child=
trap 'test -n "$child" && kill -TERM $child 2>/dev/null' TERM
trap 'test -n "$child" && kill -HUP $child 2>/dev/null' HUP
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ trap '' HUP; read -r _ <&3; kill -TERM $$; } >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait $child; status=$?
while kill -0 $child 2>/dev/null; do wait $child; status=$?; done
kill -KILL $watcher 2>/dev/null
exit $status`;

export type SpawnProcess = (program: string, args: readonly string[], options: SpawnOptions) => ChildProcess;

export interface DnsmasqOptions {
  /** The program and its first arguments. */
  readonly command: readonly string[];
  readonly configurationFile: string;
  /** The number of current leases. */
  readonly leases: () => number;
  /** If dnsmasq does not listen for this long, `givenUp` is aborted. Without it, it is restarted for ever. */
  readonly startupTimeoutMs?: number | undefined;
  /** Called when it starts and stops listening. Must not throw. */
  readonly onListening?: ((isListening: boolean) => void) | undefined;
  /** By default Node's `spawn`. */
  readonly spawn?: SpawnProcess | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

const stopWithinMs = 5_000;
const firstRestartMs = 1_000;
const maxRestartMs = 30_000;
/** Debounces SIGHUP. */
const rereadWithinMs = 10_000;
/** Upon SIGHUP dnsmasq runs the script for each lease, which takes 1.4 ms: at most a seventh of a core is used for that. */
const restPerLeaseMs = 10;

/** dnsmasq as a child of this process. It is restarted with exponential backoff. */
export class Dnsmasq implements AsyncDisposable {
  readonly #options: DnsmasqOptions;
  readonly #givenUp = new AbortController();
  readonly #firstAttempt = Promise.withResolvers<void>();
  #process: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #isUp = false;
  #stopped = false;
  #lastLogLine = '';
  #restartMs = firstRestartMs;
  #pause: Disposable | undefined;
  #startupTimeout: Disposable | undefined;
  #reread: Disposable | undefined;
  #rereadAt = Number.NEGATIVE_INFINITY;

  private constructor(options: DnsmasqOptions) {
    this.#options = options;
  }

  /**
   * Resolves when it listens or its first start failed, which is logged; with a startup timeout at once, as the caller holds a
   * lease.
   * @throws DhcpError if the program is missing or rejects its configuration
   */
  static async start(options: DnsmasqOptions): Promise<Dnsmasq> {
    await checkConfiguration(options);
    const dnsmasq = new Dnsmasq(options);
    dnsmasq.#armStartupTimeout();
    dnsmasq.#start();
    if (options.startupTimeoutMs === undefined) await dnsmasq.#firstAttempt.promise;
    return dnsmasq;
  }

  /** Aborted with a DhcpError after `startupTimeoutMs` without listening. The caller then disposes it. */
  get givenUp(): AbortSignal {
    return this.#givenUp.signal;
  }

  /** Schedules a SIGHUP, upon which dnsmasq reads the directories again and drops removed entries. */
  reread(): void {
    if (this.#reread !== undefined) return;
    const { clock, leases } = this.#options;
    const restMs = this.#rereadAt + leases() * restPerLeaseMs - clock.now();
    this.#reread = clock.setTimeout(Math.max(rereadWithinMs, restMs), () => {
      this.#reread = undefined;
      this.#rereadAt = clock.now();
      if (this.#isUp) this.#process?.kill('SIGHUP');
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    this.#setListening(false);
    this.#pause?.[Symbol.dispose]();
    this.#startupTimeout?.[Symbol.dispose]();
    this.#reread?.[Symbol.dispose]();
    const { pid } = this.#process ?? {};
    this.#process?.kill('SIGTERM');
    // The process group has the supervisor, dnsmasq and its script. Its ID is not reused while one of them runs.
    using _force = this.#options.clock.setTimeout(
      stopWithinMs,
      () => pid !== undefined && process.kill(-pid, 'SIGKILL'),
    );
    await this.#ended;
  }

  #start(): void {
    try {
      this.#spawn();
    } catch (error) {
      this.#startLater({ err: error });
    }
  }

  #spawn(): void {
    const { command, configurationFile, log, spawn: spawnProcess = spawn } = this.#options;
    const flags = ['--keep-in-foreground', '--log-facility=-', '--pid-file', `--conf-file=${configurationFile}`];
    const child = spawnProcess('/bin/sh', ['-c', supervise, 'dnsmasq', ...command, ...flags], {
      stdio: ['pipe', 'ignore', 'pipe'],
      // Its own process group: Ctrl-C in a terminal reaches only this process, which ends dnsmasq.
      detached: true,
    });
    this.#process = child;
    this.#ended = new Promise<void>((resolve) => {
      child.on('error', (error) => {
        // Without a pid the process did not start and emits no exit. Otherwise a signal failed, and the process runs.
        if (child.pid !== undefined) return log.error({ err: error }, 'a signal to dnsmasq failed');
        this.#startLater({ err: error });
        resolve();
      });
      child.once('exit', (code) => {
        child.stdin?.destroy();
        this.#startLater({ code });
        resolve();
      });
    });
    // If no file descriptor is free, Node creates no pipe and emits an error later.
    if (child.stderr) createInterface({ input: child.stderr }).on('line', (line) => this.#onOutput(line));
  }

  #onOutput(line: string): void {
    const text = line.replace(/^dnsmasq[^:]*: /, '');
    // dnsmasq logs no severity, and skips unreadable files after such a line.
    const level = /\b(?:bad|cannot|denied|failed|error)\b/i.test(text) ? 'warn' : 'debug';
    this.#options.log[level]({ dnsmasq: text }, 'dnsmasq output');
    this.#lastLogLine = text;
    if (!text.startsWith('started, ') || this.#stopped) return;
    this.#restartMs = firstRestartMs;
    this.#setListening(true);
  }

  #startLater(why: { code: number | null } | { err: unknown }): void {
    this.#setListening(false);
    if (this.#stopped) return;
    const { clock, log } = this.#options;
    log.error(
      { ...why, againInMs: this.#restartMs },
      `dnsmasq ${'err' in why ? 'could not be started' : 'ended by itself'}; no machine gets an address until it is back`,
    );
    this.#pause = clock.setTimeout(this.#restartMs, () => this.#start());
    this.#restartMs = Math.min(2 * this.#restartMs, maxRestartMs);
    // `start` does not wait for the retries.
    this.#firstAttempt.resolve();
  }

  #setListening(isListening: boolean): void {
    if (this.#isUp === isListening) return;
    this.#isUp = isListening;
    this.#options.onListening?.(isListening);
    if (isListening) {
      this.#startupTimeout?.[Symbol.dispose]();
      this.#firstAttempt.resolve();
    } else if (!this.#stopped) this.#armStartupTimeout();
  }

  #armStartupTimeout(): void {
    const { clock, startupTimeoutMs } = this.#options;
    if (startupTimeoutMs === undefined) return;
    this.#startupTimeout = clock.setTimeout(startupTimeoutMs, () => {
      const lastOutput = this.#lastLogLine === '' ? 'there was no output' : `its last output: ${this.#lastLogLine}`;
      const message = `dnsmasq has not listened for ${startupTimeoutMs / 1_000} s; ${lastOutput}`;
      this.#givenUp.abort(new DhcpError('DnsmasqDown', message));
    });
  }
}

function checkConfiguration({ command, configurationFile }: DnsmasqOptions): Promise<void> {
  const [program = '', ...before] = command;
  return new Promise((resolve, reject) => {
    execFile(program, [...before, '--test', `--conf-file=${configurationFile}`], (error, _, stderr) => {
      if (error === null) return resolve();
      const missing = 'code' in error && error.code === 'ENOENT';
      const code = missing ? 'DnsmasqMissing' : 'DnsmasqRefused';
      reject(new DhcpError(code, missing ? `${program} is not installed` : stderr.trim() || error.message, error));
    });
  });
}
