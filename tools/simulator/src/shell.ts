import { createHash, generateKeyPairSync } from 'node:crypto';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import ssh, { type AuthContext, type Connection, type ServerChannel, type Session } from 'ssh2';
import type { BmcState } from './bmc-state.ts';
import { listenError } from './errors.ts';

/** The SSH side of a BMC: a shell that knows one command, that of its vendor for restarting the BMC. */
export class SimulatedShell {
  /** Attempts to log in with a password, right or wrong. */
  logins = 0;
  /** Commands that were run, whatever came of them. */
  readonly commands: string[] = [];
  /** As OpenSSH prints it. */
  readonly hostKeyFingerprint: string;
  /** Commands end with this exit code instead of being carried out. */
  exitCode: number | undefined;
  readonly #bmc: BmcState;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;

  constructor(bmc: BmcState) {
    this.#bmc = bmc;
    const hostKey = makeHostKey();
    this.hostKeyFingerprint = fingerprintOf(hostKey);
    const sshServer = new ssh.Server({ hostKeys: [hostKey] }, (connection) => this.#acceptConnection(connection));
    // Sockets of our own: also one that never gets through its handshake is ended with the shell.
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      sshServer.injectSocket(socket);
    });
  }

  get port(): number {
    return this.#port;
  }

  /** Listens on the address of its BMC. Port 0 takes a free one. */
  async open(port: number): Promise<void> {
    const { address } = this.#bmc;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, address, resolve);
    }).catch((error: unknown) => {
      throw listenError(address, port, error);
    });
    // A server that listens on TCP has an address with a port.
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.cut();
    if (this.#port === 0) return;
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** Ends every connection, as a restart does. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #acceptConnection(connection: Connection): void {
    connection
      .on('error', () => undefined)
      .on('authentication', (attempt) => this.#authenticate(attempt))
      .on('session', (accept) => this.#serve(accept()));
  }

  #authenticate(attempt: AuthContext): void {
    if (attempt.method !== 'password') return attempt.reject(['password']);
    this.logins += 1;
    if (this.#bmc.access.authenticate(attempt.username, attempt.password) === undefined)
      return attempt.reject(['password']);
    attempt.accept();
  }

  #serve(session: Session): void {
    session.on('exec', (accept, _reject, { command }) => this.#run(command, accept()));
  }

  #run(command: string, channel: ServerChannel): void {
    this.commands.push(command);
    this.#bmc.access.changed();
    const code = this.exitCode ?? (command === this.#bmc.profile.shellResetCommand ? 0 : 127);
    if (code !== 0) channel.stderr.write(`${command}: failed\n`);
    channel.exit(code);
    channel.end();
    if (code === 0) this.#bmc.restart();
  }
}

function fingerprintOf(hostKey: string): string {
  const key = ssh.utils.parseKey(hostKey);
  if (key instanceof Error) throw key;
  return `SHA256:${createHash('sha256').update(key.getPublicSSH()).digest('base64').replace(/=+$/, '')}`;
}

/** By Node: of the Ed25519 keys that ssh2 (1.17) makes itself, one in two hundred cannot be read again. */
function makeHostKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'sec1', format: 'pem' });
}
