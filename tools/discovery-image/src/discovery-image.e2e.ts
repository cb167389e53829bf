import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildImage } from './build-image.ts';

const image = join(dirname(fileURLToPath(import.meta.url)), '../../../.image');
const deadlineMs = 240_000;
const goalSeconds = 30;
const uuid = 'aabbccdd-0000-4000-8000-000000000001';
const mac = '52:54:00:12:34:56';
const mebibyte = 1_048_576;

before(() =>
  buildImage({
    out: image,
    log: (line) => void process.stdout.write(`${line}\n`),
  }),
);

/** The parts of a report that the tests read. */
interface Report {
  readonly systemUUID: string;
  readonly data: {
    readonly systemInfo: { readonly systemInformation: Record<string, string> };
    readonly boot: object;
    readonly cpu: readonly object[];
    readonly networkInterfaces: readonly { name: string; macAddress: string; ipAddresses: string[] }[];
    readonly storage: readonly { name: string; serial: string; sizeBytes: number; health: { status: string } }[];
    readonly memory: readonly { size: number }[];
    readonly pciDevices: readonly object[];
  };
}

interface BootServer extends AsyncDisposable {
  /** URL for the machines: QEMU's user network has the host at this address. */
  readonly guestUrl: string;
  readonly report: Promise<{ authorization: string | undefined; body: Report }>;
}

/** Serves one ignition below a token and accepts one report. */
async function openBootServer(): Promise<BootServer> {
  const received = Promise.withResolvers<Awaited<BootServer['report']>>();
  const server: Server = createServer(async (request, response) => {
    if (request.method === 'POST' && request.url === '/register') {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      // The tests check the report that the image sends.
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Report;
      received.resolve({ authorization: request.headers.authorization, body });
      response.writeHead(201).end();
    } else if (request.url === '/boot/boot-token/ignition') response.end(ignitionFor(guestUrl()));
    else response.writeHead(404).end('nothing here');
  });
  // A listening TCP server has a port.
  const guestUrl = () => `http://10.0.2.2:${(server.address() as { port: number }).port}`;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    guestUrl: guestUrl(),
    report: received.promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An ignition as the operator makes it, with a short wait for LLDP neighbours: QEMU's network has none. */
const ignitionFor = (registryUrl: string): string =>
  JSON.stringify({
    ignition: { version: '3.2.0' },
    storage: { files: [{ path: '/etc/metalprobe/token', mode: 0o600, contents: { source: 'data:,report-token' } }] },
    systemd: {
      units: [
        {
          name: 'metalprobe.service',
          enabled: true,
          contents: `[Service]\nExecStart=/usr/bin/metalprobe --registry-url=${registryUrl} --server-uuid=${uuid} --token-file=/etc/metalprobe/token --lldp-sync-duration=1s\n`,
        },
      ],
    },
  });

interface Machine extends AsyncDisposable {
  readonly exited: Promise<void>;
  /** Output of the machine on its serial line. */
  console(): Promise<string>;
  pressPowerButton(): void;
}

async function startMachine(folder: string, memoryMebibytes: number, parameters: readonly string[]): Promise<Machine> {
  const serial = join(folder, 'console');
  const qemu: ChildProcessByStdio<Writable, Readable, null> = spawn(
    'qemu-system-x86_64',
    [
      '-machine',
      'q35,accel=tcg',
      '-smp',
      '2',
      '-m',
      String(memoryMebibytes),
      '-nodefaults',
      '-display',
      'none',
      '-uuid',
      uuid,
      '-smbios',
      'type=1,manufacturer=ACME,product=Rack One,serial=SN-42',
      '-device',
      'virtio-rng-pci',
      '-serial',
      `file:${serial}`,
      '-qmp',
      'stdio',
      '-no-reboot',
      ...parameters,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  await once(qemu, 'spawn');
  qemu.stdout.resume();
  const exited = once(qemu, 'exit').then(() => undefined);
  qemu.stdin.write('{"execute":"qmp_capabilities"}\n');
  return {
    exited,
    console: () => readFile(serial, 'utf8').catch(() => ''),
    pressPowerButton: () => void qemu.stdin.write('{"execute":"system_powerdown"}\n'),
    async [Symbol.asyncDispose]() {
      qemu.kill('SIGKILL');
      await exited;
    },
  };
}

const network = (more = ''): string[] => [
  '-netdev',
  `user,id=net0,restrict=off${more}`,
  '-device',
  `virtio-net-pci,netdev=net0,mac=${mac},romfile=`,
];

/** An empty, sparse disk of that size. */
async function disk(folder: string, name: string, mebibytes: number, device: string): Promise<string[]> {
  const path = join(folder, name);
  await using file = await open(path, 'w');
  await file.truncate(mebibytes * mebibyte);
  return ['-drive', `if=none,id=${name},format=raw,file=${path}`, '-device', `${device},drive=${name},serial=${name}`];
}

async function scratchFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'image-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

/** Waits for a promise; a timeout error has the end of the console output. */
async function inTime<T>(what: string, awaited: Promise<T>, machine: Machine): Promise<T> {
  const late = AbortSignal.timeout(deadlineMs);
  const ended = Promise.withResolvers<never>();
  const fail = async () => {
    const text = await machine.console();
    ended.reject(
      new Error(`no ${what} within ${deadlineMs / 1_000} s; end of the console output:\n${text.slice(-3_000)}`),
    );
  };
  late.addEventListener('abort', () => void fail());
  return Promise.race([awaited, ended.promise]);
}

const byName = (one: { name: string }, other: { name: string }): number => one.name.localeCompare(other.name);

function logDuration(what: string, startedAt: number): void {
  const seconds = (performance.now() - startedAt) / 1_000;
  process.stdout.write(`${what}: report ${seconds.toFixed(1)} s after power on (goal ${goalSeconds} s)\n`);
}

test('a machine that boots kernel and initrd reports its hardware, and its power button ends it', async () => {
  await using folder = await scratchFolder();
  await using server = await openBootServer();
  const startedAt = performance.now();
  await using machine = await startMachine(folder.path, 512, [
    '-kernel',
    join(image, 'vmlinuz'),
    '-initrd',
    join(image, 'initrd'),
    '-append',
    `console=tty0 console=ttyS0 ignition.config.url=${server.guestUrl}/boot/boot-token/ignition`,
    ...network(),
    ...(await disk(folder.path, 'VIRTIO-1', 64, 'virtio-blk-pci')),
    ...(await disk(folder.path, 'NVME-1', 128, 'nvme')),
    ...(await disk(folder.path, 'SATA-1', 256, 'ide-hd')),
  ]);
  const { authorization, body } = await inTime('report', server.report, machine);
  logDuration('kernel and initrd, 512 MiB', startedAt);

  assert.equal(authorization, 'Bearer report-token');
  assert.equal(body.systemUUID, uuid);
  const { systemInfo, boot, cpu, networkInterfaces, storage, memory, pciDevices } = body.data;
  const { manufacturer, productName, serialNumber, uuid: ownUuid } = systemInfo.systemInformation;
  assert.deepEqual([manufacturer, productName, serialNumber, ownUuid], ['ACME', 'Rack One', 'SN-42', uuid]);
  assert.deepEqual(boot, { mode: 'BIOS', secureBoot: 'unsupported' });
  assert.deepEqual(
    networkInterfaces.map(({ macAddress, ipAddresses }) => [macAddress, ipAddresses.includes('10.0.2.15')]),
    [[mac, true]],
  );
  assert.deepEqual(
    storage.toSorted(byName).map(({ name, serial, sizeBytes }) => [name, serial, sizeBytes / mebibyte]),
    [
      ['nvme0n1', 'NVME-1', 128],
      ['sda', 'SATA-1', 256],
      ['vda', 'VIRTIO-1', 64],
    ],
  );
  const healthOf = Object.fromEntries(storage.map(({ name, health }) => [name, health.status]));
  assert.deepEqual(healthOf, { nvme0n1: 'passed', sda: 'passed', vda: 'unknown' });
  assert.deepEqual(
    memory.map(({ size }) => size / mebibyte),
    [512],
  );
  assert.equal(cpu.length, 1);
  assert.ok(pciDevices.length > 4, `found ${pciDevices.length} PCI functions`);

  machine.pressPowerButton();
  await inTime('end after the power button', machine.exited, machine);
  const text = await machine.console();
  for (const line of [
    /Discovery system [0-9a-f]{12}/,
    new RegExp(`eth0 +${mac} +link up +10.0.2.15`),
    /the registry accepted the report/,
    /Power button/,
  ])
    assert.match(text, line);
  assert.doesNotMatch(text.replaceAll(/ignition.config.url=\S+/g, ''), /boot-token|report-token/);
});

test('the unified kernel image finds its orders by the boot file of DHCP', async () => {
  await using folder = await scratchFolder();
  await using server = await openBootServer();
  const boot = join(folder.path, 'disk/EFI/BOOT');
  await mkdir(boot, { recursive: true });
  await copyFile(join(image, 'discovery.efi'), join(boot, 'BOOTX64.EFI'));
  await copyFile('/usr/share/OVMF/OVMF_VARS_4M.fd', join(folder.path, 'vars'));
  const startedAt = performance.now();
  await using machine = await startMachine(folder.path, 768, [
    '-drive',
    'if=pflash,format=raw,unit=0,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.fd',
    '-drive',
    `if=pflash,format=raw,unit=1,file=${join(folder.path, 'vars')}`,
    '-drive',
    `if=none,id=boot,format=raw,readonly=on,file=fat:${join(folder.path, 'disk')}`,
    '-device',
    'virtio-blk-pci,drive=boot,bootindex=1',
    ...network(`,bootfile=${server.guestUrl}/boot/boot-token/discovery.efi`),
  ]);
  const { body } = await inTime('report', server.report, machine);
  logDuration('unified kernel image under OVMF, 768 MiB', startedAt);
  assert.deepEqual([body.systemUUID, body.data.boot], [uuid, { mode: 'UEFI', secureBoot: 'disabled' }]);
});
