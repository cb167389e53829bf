import { generateKeyPairSync } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import ssh, { type ServerChannel } from 'ssh2';
import { fingerprintOf } from '../src/ssh/ssh.ts';

export interface StubShellOptions {
  readonly password?: string;
  readonly method?: 'password' | 'keyboard-interactive';
  /** What a command does. */
  readonly run?: (channel: ServerChannel, disconnect: () => void) => void;
}

/** A real SSH server that behaves like the shell of a BMC, with everything it is asked written down. */
export class StubShell implements AsyncDisposable {
  readonly commands: string[] = [];
  readonly logins: string[] = [];
  readonly fingerprint: string;
  readonly #server: ssh.Server;

  private constructor({ password = 'secret', method = 'password', run = exitSuccessfully }: StubShellOptions) {
    const hostKey = makeHostKey();
    const key = ssh.utils.parseKey(hostKey);
    if (key instanceof Error) throw key;
    this.fingerprint = fingerprintOf(key.getPublicSSH());
    this.#server = new ssh.Server({ hostKeys: [hostKey] }, (connection) => {
      const authenticate = (
        givenPassword: string | undefined,
        attempt: { accept(): void; reject(methods: [typeof method]): void },
      ) => {
        this.logins.push(method);
        if (givenPassword === password) attempt.accept();
        else attempt.reject([method]);
      };
      connection
        .on('error', () => undefined)
        .on('authentication', (attempt) => {
          if (attempt.method === 'password' && method === 'password') authenticate(attempt.password, attempt);
          else if (attempt.method === 'keyboard-interactive' && method === 'keyboard-interactive')
            attempt.prompt([{ prompt: 'Password: ', echo: false }], ([givenPassword]) =>
              authenticate(givenPassword, attempt),
            );
          else attempt.reject([method]);
        })
        .on('session', (accept) => {
          accept().on('exec', (acceptExec, _reject, { command }) => {
            this.commands.push(command);
            run(acceptExec(), () => connection.end());
          });
        });
    });
  }

  static async start(options: StubShellOptions = {}): Promise<StubShell> {
    const shell = new StubShell(options);
    await new Promise<void>((resolve) => shell.#server.listen(0, '127.0.0.1', resolve));
    return shell;
  }

  get port(): number {
    // A server that listens on TCP has an address with a port.
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

function exitSuccessfully(channel: ServerChannel): void {
  channel.exit(0);
  channel.end();
}

/** By Node: of the Ed25519 keys that ssh2 (1.17) makes itself, one in two hundred cannot be read again. */
function makeHostKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'sec1', format: 'pem' });
}
