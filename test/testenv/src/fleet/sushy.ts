import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { get as getSecure } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@metal/controlplane/free-port.ts';
import { createFleetAuthority } from '@metal/simulator/certificates.ts';
import { hash } from 'bcryptjs';
import { pythonWith } from './python-program.ts';

const version = '2.2.0';
/** Its fake driver has no BIOS: it gets the attributes of the driver for libvirt, which also applies changes at once. */
const biosProgram = `
import json, sys
from sushy_tools.emulator.resources.systems.fakedriver import FakeDriver
attributes = json.loads(sys.argv.pop(1))
FakeDriver.get_bios = lambda self, identity: dict(attributes)
FakeDriver.set_bios = lambda self, identity, changed: attributes.update(changed)
`;
/** The versions that its UpdateService changes are kept by its driver for virtual machines only: the fake one gets them here. */
const program = `
import sys
from sushy_tools.emulator.main import main
from sushy_tools.emulator.resources.systems.fakedriver import FakeDriver
FakeDriver.get_versions = lambda self, identity: self._get(identity).get('versions', {'BiosVersion': '1.0.0'})
FakeDriver.set_versions = lambda self, identity, versions: self._update(identity, versions=versions)
sys.exit(main())
`;
const readyWithinMs = 30_000;

export interface SushyOptions {
  readonly systems: readonly { readonly uuid: string; readonly name: string; readonly mac: string }[];
  readonly username: string;
  readonly password: string;
  /** Serve HTTPS with a certificate of a CA of its own. */
  readonly tls: boolean;
  /** BIOS attributes, the same for all systems; without them the systems have no BIOS. */
  readonly bios?: Readonly<Record<string, string>>;
}

/** A foreign Redfish service: sushy-tools of the OpenStack project, with its fake driver. */
export interface Sushy extends AsyncDisposable {
  readonly port: number;
  readonly caPem: string | undefined;
  /** The service's own view of a system, read without the operator. */
  system(uuid: string): Promise<{ PowerState: string; Boot: { BootSourceOverrideTarget: string }; UUID: string }>;
}

export async function startSushy(options: SushyOptions): Promise<Sushy> {
  const python = await pythonWith('sushy-tools', version, ['bcrypt']);
  const directory = await mkdtemp(join(tmpdir(), 'metal-sushy-'));
  const stack = new AsyncDisposableStack();
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  try {
    const port = await freePort();
    const caPem = await writeConfiguration(directory, port, options);
    const config = ['--config', join(directory, 'emulator.conf')];
    const { bios } = options;
    const command = bios === undefined ? ['-c', program] : ['-c', biosProgram + program, JSON.stringify(bios)];
    const child = spawn(python, [...command, ...config], {
      cwd: directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const exited = once(child, 'exit');
    let stderrText = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderrText = (stderrText + chunk.toString()).slice(-2_000);
    });
    stack.defer(async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await exited;
    });
    const fetchPath = (path: string) => fetchJson(options, port, caPem, path);
    await untilReady(
      () => fetchPath('/redfish/v1/'),
      () => child.exitCode,
      () => stderrText,
    );
    // The service answers with what Redfish defines for a system.
    const system = async (uuid: string) =>
      (await fetchPath(`/redfish/v1/Systems/${uuid}`)) as Awaited<ReturnType<Sushy['system']>>;
    return { port, caPem, system, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function writeConfiguration(
  directory: string,
  port: number,
  { systems, username, password, tls }: SushyOptions,
): Promise<string | undefined> {
  const path = (name: string) => join(directory, name);
  await writeFile(path('htpasswd'), `${username}:${await hash(password, 4)}\n`);
  const authority = tls ? await createFleetAuthority() : undefined;
  if (authority !== undefined) {
    const { certificatePem, keyPem } = await authority.identityFor('127.0.0.1');
    await writeFile(path('cert.pem'), certificatePem);
    await writeFile(path('key.pem'), keyPem);
  }
  const text = (value: string) => JSON.stringify(value);
  const fakes = systems.map(
    ({ uuid, name, mac }) =>
      `{'uuid': ${text(uuid)}, 'name': ${text(name)}, 'power_state': 'Off', 'external_notifier': False, 'nics': [{'mac': ${text(mac)}, 'ip': '192.0.2.10'}]}`,
  );
  const lines = [
    `SUSHY_EMULATOR_LISTEN_IP = '127.0.0.1'`,
    `SUSHY_EMULATOR_LISTEN_PORT = ${port}`,
    'SUSHY_EMULATOR_FAKE_DRIVER = True',
    `SUSHY_EMULATOR_STATE_DIR = ${text(directory)}`,
    `SUSHY_EMULATOR_AUTH_FILE = ${text(path('htpasswd'))}`,
    `SUSHY_EMULATOR_FAKE_SYSTEMS = [${fakes.join(', ')}]`,
    ...(tls
      ? [`SUSHY_EMULATOR_SSL_CERT = ${text(path('cert.pem'))}`, `SUSHY_EMULATOR_SSL_KEY = ${text(path('key.pem'))}`]
      : []),
  ];
  await writeFile(path('emulator.conf'), `${lines.join('\n')}\n`);
  return authority?.caPem;
}

function fetchJson(
  { username, password, tls }: SushyOptions,
  port: number,
  ca: string | undefined,
  path: string,
): Promise<unknown> {
  const options = {
    host: '127.0.0.1',
    port,
    path,
    agent: false as const,
    auth: `${username}:${password}`,
    ...(ca === undefined ? {} : { ca }),
  };
  return new Promise((resolve, reject) => {
    const call = (tls ? getSecure : get)(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => {
        try {
          resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')));
        } catch (error) {
          reject(error);
        }
      });
    });
    call.once('error', reject);
  });
}

async function untilReady(
  fetchPath: () => Promise<unknown>,
  exitCode: () => number | null,
  stderrText: () => string,
): Promise<void> {
  const deadline = performance.now() + readyWithinMs;
  for (;;) {
    const isReady = await fetchPath().then(
      () => true,
      () => false,
    );
    if (isReady) return;
    if (exitCode() !== null || performance.now() > deadline)
      throw new Error(`sushy-emulator did not start:\n${stderrText()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
