import { createHash } from 'node:crypto';
import type { AnyAuthMethod, Client, ClientChannel, ConnectConfig, NextAuthHandler } from 'ssh2';
import type { Clock } from '../http/clock.ts';
import type { Password } from '../http/password.ts';

/** The error of a command in the shell of a BMC. Holds no secret. */
export class SshError extends Error {
  readonly code: 'SshHostKeyMismatch' | 'SshFailed';
  readonly retry = 'blocked';

  constructor(code: SshError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'SshError';
    this.code = code;
  }
}

export interface SshCommand {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: Password;
  readonly command: string;
  /** Fingerprint of the only accepted host key, as OpenSSH prints it (`SHA256:…`); undefined accepts any. */
  readonly hostKeyFingerprint: string | undefined;
  /** From the attempt to connect until the end of the command. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

export interface SshOutcome {
  /** Fingerprint of the host key that the BMC presented. */
  readonly hostKeyFingerprint: string;
}

/**
 * Runs one command over SSH, with one login. A connection that closes while the command runs counts as success, as a restart
 * closes it. Rejects with SshError, or with the reason of the signal.
 */
export async function runOverSsh(options: SshCommand): Promise<SshOutcome> {
  // Loaded on demand: few sites need it, and it takes 7 MiB of memory.
  const { default: ssh } = await import('ssh2');
  const connection = new SshConnection(options, new ssh.Client());
  const timeoutError = new SshError(
    'SshFailed',
    `${connection.where} did not finish within ${options.deadlineMs / 1_000} s`,
  );
  using _timer = options.clock.setTimeout(options.deadlineMs, () => connection.fail(timeoutError));
  const onAbort = () => connection.fail(options.signal?.reason);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    options.signal?.throwIfAborted();
    return await connection.run();
  } finally {
    options.signal?.removeEventListener('abort', onAbort);
    connection.close();
  }
}

/** One connection, from the handshake to the end of the command. */
class SshConnection {
  readonly where: string;
  readonly #options: SshCommand;
  readonly #client: Client;
  readonly #end = Promise.withResolvers<SshOutcome>();
  #shownFingerprint = '';
  #hostKeyError: SshError | undefined;
  #isRunning = false;
  /** 0 when the connection closes without one: the BMC has restarted. */
  #exitCode = 0;
  #output = '';

  constructor(options: SshCommand, client: Client) {
    this.#options = options;
    this.#client = client;
    this.where = `${options.host} port ${options.port}`;
  }

  run(): Promise<SshOutcome> {
    this.#client
      .on('ready', () => this.#execute())
      .on('error', (error) => this.#onError(error))
      .on('close', () => this.#onError(new Error('the connection was closed')));
    this.#client.connect(this.#configuration());
    return this.#end.promise;
  }

  fail(reason: unknown): void {
    this.#end.reject(reason);
  }

  close(): void {
    // A late error of the socket must not become an unhandled one.
    this.#client.on('error', () => undefined);
    this.#client.destroy();
  }

  #configuration(): ConnectConfig {
    const { host, port, username } = this.#options;
    return {
      host,
      port,
      username,
      // `deadlineMs` applies instead, on the given clock.
      readyTimeout: 0,
      hostVerifier: (key: Buffer) => this.#verifyHostKey(key),
      authHandler: this.#methods(),
      // Firmware of 2015 and earlier has no better key exchange.
      algorithms: { kex: { append: ['diffie-hellman-group14-sha1'], prepend: [], remove: [] } },
    };
  }

  #verifyHostKey(key: Buffer): boolean {
    this.#shownFingerprint = fingerprintOf(key);
    const { hostKeyFingerprint: expected } = this.#options;
    if (expected === undefined || bare(expected) === bare(this.#shownFingerprint)) return true;
    this.#hostKeyError = new SshError(
      'SshHostKeyMismatch',
      `${this.where} shows host key ${this.#shownFingerprint}, not ${expected}; compare it with the BMC and set spec.ssh.hostKeyFingerprint`,
    );
    return false;
  }

  /** Queries the methods and then tries one, once: each rejected password brings the account closer to its lockout. */
  #methods() {
    let step = 0;
    return (offered: string[] | null, _partly: boolean | null, next: NextAuthHandler): void => {
      step += 1;
      const method = step === 1 ? 'none' : step === 2 ? choose(offered ?? []) : undefined;
      // `false` ends the login; the declared type of the callback lacks it.
      next(method === undefined ? (false as never) : this.#authentication(method));
    };
  }

  #authentication(method: 'none' | 'password' | 'keyboard-interactive'): AnyAuthMethod {
    const { username, password } = this.#options;
    if (method === 'password') return { type: 'password', username, password: password.reveal() };
    if (method === 'none') return { type: 'none', username };
    const prompt = (
      _name: string,
      _instructions: string,
      _language: string,
      prompts: unknown[],
      finish: (responses: string[]) => void,
    ) => finish(prompts.map(() => password.reveal()));
    return { type: 'keyboard-interactive', username, prompt };
  }

  #execute(): void {
    this.#client.exec(this.#options.command, (error, channel) => {
      if (error !== undefined) return this.#onError(error);
      this.#isRunning = true;
      this.#listen(channel);
    });
  }

  #listen(channel: ClientChannel): void {
    const appendOutput = (text: Buffer) => {
      this.#output = `${this.#output}${text.toString('utf8')}`.slice(-300);
    };
    channel.on('data', appendOutput);
    channel.stderr.on('data', appendOutput);
    channel.on('exit', (code: number | null) => {
      this.#exitCode = code ?? 0;
    });
    channel.on('close', () => this.#finish());
  }

  #finish(): void {
    if (this.#exitCode === 0) return this.#end.resolve({ hostKeyFingerprint: this.#shownFingerprint });
    const output = this.#output.trim();
    const end = `${this.where} ended "${this.#options.command}" with exit code ${this.#exitCode}`;
    this.fail(new SshError('SshFailed', output === '' ? end : `${end}: ${output}`));
  }

  #onError(error: Error): void {
    if (this.#isRunning) return this.#finish();
    this.fail(this.#hostKeyError ?? new SshError('SshFailed', `${this.where}: ${explain(error)}`, error));
  }
}

function choose(offered: readonly string[]): 'password' | 'keyboard-interactive' | undefined {
  if (offered.includes('password')) return 'password';
  return offered.includes('keyboard-interactive') ? 'keyboard-interactive' : undefined;
}

const explanations: Record<string, string> = {
  ECONNREFUSED: 'connection refused; no SSH server listens there',
  EHOSTUNREACH: 'no route to the host',
  ETIMEDOUT: 'no answer',
};

function explain(error: Error): string {
  if ('level' in error && error.level === 'client-authentication')
    return 'the BMC rejected user name or password; they are not sent again';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return explanations[code] ?? error.message;
}

/** As `ssh-keygen -l` prints it. */
export function fingerprintOf(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

const bare = (fingerprint: string): string => fingerprint.replace(/^SHA256:/i, '').replace(/=+$/, '');
