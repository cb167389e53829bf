import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Clock } from '@metal/kube/clock.ts';
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

export interface DnsmasqOptions {
  /** The program and what comes before its own arguments. */
  readonly command: readonly string[];
  readonly configurationFile: string;
  /** How many it has given. */
  readonly leases: () => number;
  readonly clock: Clock;
  readonly log: Logger;
}

const stopWithinMs = 5_000;
const firstRestartMs = 1_000;
const longestRestartMs = 30_000;
/** What is to be forgotten may wait a little, and goes together. */
const rereadWithinMs = 10_000;
/** Upon the signal dnsmasq starts a process for every lease, of 1.4 ms each: at most a seventh of a core goes there. */
const restPerLeaseMs = 10;

/** dnsmasq as a child of this process. One that ends by itself is started again, with growing pauses. */
export class Dnsmasq implements AsyncDisposable {
  readonly #options: DnsmasqOptions;
  #process: ChildProcess | undefined;
  #listens = Promise.withResolvers<void>();
  #ended: Promise<unknown> = Promise.resolve();
  #isUp = false;
  #stopped = false;
  #restartMs = firstRestartMs;
  #pause: Disposable | undefined;
  #reread: Disposable | undefined;
  #rereadAt = Number.NEGATIVE_INFINITY;

  private constructor(options: DnsmasqOptions) {
    this.#options = options;
  }

  /** @throws DhcpError when the program is missing or does not understand its configuration. */
  static async start(options: DnsmasqOptions): Promise<Dnsmasq> {
    await checkConfiguration(options);
    const dnsmasq = new Dnsmasq(options);
    dnsmasq.#spawn();
    await dnsmasq.#listens.promise;
    return dnsmasq;
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
    this.#pause?.[Symbol.dispose]();
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

  #spawn(): void {
    const { command, configurationFile, log } = this.#options;
    const flags = ['--keep-in-foreground', '--log-facility=-', '--pid-file', `--conf-file=${configurationFile}`];
    const child = spawn('/bin/sh', ['-c', supervise, 'dnsmasq', ...command, ...flags], {
      stdio: ['pipe', 'ignore', 'pipe'],
      // A group of its own: Ctrl-C in a terminal reaches this process, which then ends things in order.
      detached: true,
    });
    this.#process = child;
    createInterface({ input: child.stderr }).on('line', (line) => this.#hear(line));
    this.#ended = new Promise<void>((resolve) => {
      child.once('error', (error) => {
        log.error({ err: error }, 'dnsmasq could not be started');
        resolve();
      });
      child.once('exit', (code) => {
        child.stdin.destroy();
        this.#isUp = false;
        if (!this.#stopped) this.#startLater(code);
        resolve();
      });
    });
  }

  #hear(line: string): void {
    const text = line.replace(/^dnsmasq[^:]*: /, '');
    // It does not say how grave it is; what it cannot read, it would pass over in silence.
    const level = /\b(?:bad|cannot|denied|failed|error)\b/i.test(text) ? 'warn' : 'debug';
    this.#options.log[level]({ dnsmasq: text }, 'dnsmasq says');
    if (!text.startsWith('started, ')) return;
    this.#isUp = true;
    this.#restartMs = firstRestartMs;
    this.#listens.resolve();
  }

  #startLater(code: number | null): void {
    const { clock, log } = this.#options;
    log.error(
      { code, againInMs: this.#restartMs },
      'dnsmasq ended by itself; no machine gets an address until it is back',
    );
    this.#pause = clock.setTimeout(this.#restartMs, () => this.#spawn());
    this.#restartMs = Math.min(2 * this.#restartMs, longestRestartMs);
    // A first start that fails is one to wait for no longer: the log tells what it is, and it is tried again.
    this.#listens.resolve();
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
