import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@metal/controlplane/free-port.ts';
import { Child } from '@metal/process/child.ts';
import { hash } from 'bcryptjs';
import { pythonWith } from '../fleet/python-program.ts';

const run = promisify(execFile);

const version = '39.0.0';
const service = 'from ironic.command.singleprocess import main; main()';
const createSchema = 'from ironic.command.dbsync import main; main()';
const readyWithinMs = 60_000;
const newestVersion = 115;

export interface IronicServiceOptions {
  /** HTTP Basic authentication; without it, none. */
  readonly login?: { readonly username: string; readonly password: string };
  /** Lines of its configuration, by section, which win. */
  readonly configuration?: Readonly<Record<string, readonly string[]>>;
}

/** A real OpenStack Ironic: API and conductor in one process, with SQLite, in a temporary directory. */
export interface IronicService extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** A request as a client that nobody here wrote would send it; resolves with the parsed body. */
  request(method: string, path: string, body?: unknown): Promise<unknown>;
  /** It restarts with an empty database. */
  loseDatabase(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Its log so far. */
  log(): Promise<string>;
}

export async function startIronic(options: IronicServiceOptions = {}): Promise<IronicService> {
  const python = await pythonWith('ironic', version);
  const directory = await mkdtemp(join(tmpdir(), 'metal-ironic-'));
  const ironic = new RunningIronic({ python, directory, port: await freePort(), ...options });
  try {
    await ironic.install();
    await ironic.start();
    return ironic;
  } catch (error) {
    await ironic[Symbol.asyncDispose]();
    throw error;
  }
}

interface Place extends IronicServiceOptions {
  readonly python: string;
  readonly directory: string;
  readonly port: number;
}

class RunningIronic implements IronicService {
  readonly url: string;
  readonly #place: Place;
  #child: Child | undefined;

  constructor(place: Place) {
    this.#place = place;
    this.url = `http://127.0.0.1:${place.port}`;
  }

  async install(): Promise<void> {
    const { directory, python, login } = this.#place;
    await Promise.all(['http', 'locks', 'cache', 'bin'].map((name) => mkdir(join(directory, name))));
    // Ironic makes config drives with this program, and one of its own dependencies has another of this kind.
    const makeIso = `#!/bin/sh\nexec '${python}' '${join(dirname(python), 'pycdlib-genisoimage')}' "$@"\n`;
    await writeFile(join(directory, 'bin/genisoimage'), makeIso, { mode: 0o755 });
    if (login !== undefined)
      await writeFile(join(directory, 'htpasswd'), `${login.username}:${await hash(login.password, 4)}\n`);
    await writeFile(join(directory, 'ironic.conf'), configurationOf(this.#place));
    await run(python, ['-c', createSchema, ...this.#arguments(), 'create_schema']);
    await copyFile(join(directory, 'ironic.db'), join(directory, 'empty.db'));
  }

  async start(): Promise<void> {
    const { python, directory } = this.#place;
    this.#child = new Child({
      name: 'Ironic',
      command: python,
      args: ['-c', service, ...this.#arguments()],
      directory,
      environment: { ...process.env, PATH: `${join(directory, 'bin')}:${process.env.PATH}` },
      logFile: join(directory, 'output.log'),
      leftovers: directory,
    });
    const isReady = () =>
      this.request('GET', 'drivers').then(
        () => true,
        () => false,
      );
    await this.#child.until(isReady, readyWithinMs);
  }

  async stop(): Promise<void> {
    await this.#child?.stop();
    this.#child = undefined;
  }

  async loseDatabase(): Promise<void> {
    const { directory } = this.#place;
    await this.stop();
    const files = ['ironic.db', 'ironic.db-wal', 'ironic.db-shm', 'ironic.db-journal'];
    await Promise.all(files.map((name) => rm(join(directory, name), { force: true })));
    await copyFile(join(directory, 'empty.db'), join(directory, 'ironic.db'));
    await this.start();
  }

  async request(method: string, path: string, body?: unknown): Promise<unknown> {
    const { login } = this.#place;
    const basic = login && Buffer.from(`${login.username}:${login.password}`).toString('base64');
    const response = await fetch(`${this.url}/v1/${path}`, {
      method,
      headers: {
        'x-openstack-ironic-api-version': `1.${newestVersion}`,
        'content-type': 'application/json',
        ...(basic === undefined ? {} : { authorization: `Basic ${basic}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  log(): Promise<string> {
    return readFile(join(this.#place.directory, 'ironic.log'), 'utf8');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.#place.directory, { recursive: true, force: true });
  }

  #arguments(): string[] {
    return ['--config-file', join(this.#place.directory, 'ironic.conf')];
  }
}

/** Everything that is short is only shorter than in production. */
function configurationOf({ directory, port, login, configuration = {} }: Place): string {
  const sections: Record<string, readonly string[]> = {
    DEFAULT: [
      `auth_strategy = ${login === undefined ? 'noauth' : 'http_basic'}`,
      `http_basic_auth_user_file = ${join(directory, 'htpasswd')}`,
      'rpc_transport = none',
      'host = localhost',
      'enabled_hardware_types = fake-hardware,redfish',
      'enabled_boot_interfaces = fake,redfish-virtual-media,redfish-https,ipxe',
      'enabled_deploy_interfaces = fake,direct,ramdisk,custom-agent',
      'enabled_inspect_interfaces = fake,agent,redfish,no-inspect',
      'enabled_management_interfaces = fake,redfish,noop',
      'enabled_power_interfaces = fake,redfish',
      'enabled_raid_interfaces = fake,no-raid,agent,redfish',
      'enabled_bios_interfaces = fake,no-bios,redfish',
      'enabled_firmware_interfaces = fake,no-firmware,redfish',
      'enabled_vendor_interfaces = fake,no-vendor,redfish',
      'enabled_network_interfaces = noop',
      'default_network_interface = noop',
      `log_file = ${join(directory, 'ironic.log')}`,
      `tempdir = ${directory}`,
    ],
    database: [`connection = sqlite:///${join(directory, 'ironic.db')}`],
    api: ['host_ip = 127.0.0.1', `port = ${port}`, 'api_workers = 1'],
    conductor: [
      'automated_clean = true',
      'sync_power_state_interval = 3',
      'power_state_sync_max_retries = 1',
      'power_failure_recovery_interval = 3',
      'check_provision_state_interval = 3',
      'node_locked_retry_attempts = 1',
      'graceful_shutdown_timeout = 1',
    ],
    // Its address for ramdisks.
    service_catalog: [`endpoint_override = http://127.0.0.1:${port}`],
    // The BMC fetches an ISO from where it is.
    deploy: [
      'ramdisk_image_download_source = http',
      `http_root = ${join(directory, 'http')}`,
      `http_url = http://127.0.0.1:${port}/`,
    ],
    redfish: ['connection_attempts = 1', 'post_boot_retry_attempts = 1'],
    pxe: [`tftp_root = ${join(directory, 'http')}`, `instance_master_path = ${join(directory, 'cache')}`],
    dhcp: ['dhcp_provider = none'],
    oslo_concurrency: [`lock_path = ${join(directory, 'locks')}`],
  };
  for (const [name, lines] of Object.entries(configuration)) sections[name] = [...(sections[name] ?? []), ...lines];
  return Object.entries(sections)
    .map(([name, lines]) => [`[${name}]`, ...lines, ''].join('\n'))
    .join('\n');
}
