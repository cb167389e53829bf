import { type ChildProcess, execFile, spawn, type SpawnOptions } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Logger } from 'pino';
import { DhcpError } from './errors.ts';

/**
 * Runs a program for as long as the writer of its own standard input lives. However that one ended, by SIGKILL too, the
 * kernel closes the pipe, and the program is ended: two that answer would give one address to two machines.
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
  /** The program and what comes before its own arguments. */
  readonly command: readonly string[];
  readonly configurationFile: string;
  /** How many it has given. */
  readonly leases: () => number;
  /** For somebody else to have a turn: a dnsmasq that has not listened for so long is given up. Without it, none is. */
  readonly startupTimeoutMs?: number | undefined;
  /** Called when it begins to listen, and when it does no more. Must not throw. */
  readonly onListening?: ((isListening: boolean) => void) | undefined;
  /** How a process begins: as Node's `spawn` does. */
  readonly spawn?: SpawnProcess | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

const stopWithinMs = 5_000;
const firstRestartMs = 1_000;
const maxRestartMs = 30_000;
/** What is to be forgotten may wait a little, and goes together. */
const rereadWithinMs = 10_000;
/** Upon the signal dnsmasq starts a process for every lease, of 1.4 ms each: at most a seventh of a core goes there. */
const restPerLeaseMs = 10;

/** dnsmasq as a child of this process. One that ends by itself, or cannot begin, is started again, with growing pauses. */
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
   * Resolves when it listens or its first try failed, which is told in the log; at once where it may be given up, as
   * whoever waits for that keeps it from others meanwhile.
   * @throws DhcpError when the program is missing or does not understand its configuration.
   */
  static async start(options: DnsmasqOptions): Promise<Dnsmasq> {
    await checkConfiguration(options);
    const dnsmasq = new Dnsmasq(options);
    dnsmasq.#armStartupTimeout();
    dnsmasq.#start();
    if (options.startupTimeoutMs === undefined) await dnsmasq.#firstAttempt.promise;
    return dnsmasq;
  }

  /** Aborted, with a DhcpError that says why, when it has not listened for `giveUpAfterMs`. It is to be disposed then. */
  get givenUp(): AbortSignal {
    return this.#givenUp.signal;
  }

  /** The directories are read anew soon, or when it has rested from the last time: what is no longer there is forgotten. */
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
    // The group holds the supervisor, dnsmasq and its script. While one of them lives, nobody else has its id.
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
      // A group of its own: Ctrl-C in a terminal reaches this process, which then ends things in order.
      detached: true,
    });
    this.#process = child;
    this.#ended = new Promise<void>((resolve) => {
      child.on('error', (error) => {
        // One that did not begin says nothing more. Another may not have taken a signal, and lives.
        if (child.pid !== undefined) return log.error({ err: error }, 'dnsmasq could not be told something');
        this.#startLater({ err: error });
        resolve();
      });
      child.once('exit', (code) => {
        child.stdin?.destroy();
        this.#startLater({ code });
        resolve();
      });
    });
    // Without a file descriptor to spare, Node has no pipe, and tells of the error afterwards.
    if (child.stderr) createInterface({ input: child.stderr }).on('line', (line) => this.#onOutput(line));
  }

  #onOutput(line: string): void {
    const text = line.replace(/^dnsmasq[^:]*: /, '');
    // It does not say how grave it is; what it cannot read, it would pass over in silence.
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
    // A first try that fails is one to wait for no longer: the log tells what it is, and it is tried again.
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

  /** Begins to: it ends when dnsmasq listens. */
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
