import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { startFleet, type Node } from '../fleet.ts';
import { hangs, startTestBootServer } from '../test-boot-server.ts';
import { clientOf } from '../test-client.ts';
import { bootSector, type BootSectorEnd } from './boot-sector.ts';
import { guestUrl } from './guest-url.ts';
import { QemuMachine } from './qemu-machine.ts';

const soon = () => AbortSignal.timeout(60_000);
const qemu = { machine: 'qemu' } as const;
const systemOf = (node: Node) => `/Systems/${node.machine.systemId}`;
const reset = (node: Node, type: string) =>
  clientOf(node).send('POST', `${systemOf(node)}/Actions/ComputerSystem.Reset`, { ResetType: type });
const override = (node: Node, target: string, enabled = 'Once', more: Record<string, unknown> = {}) =>
  clientOf(node).send('PATCH', systemOf(node), {
    Boot: { BootSourceOverrideTarget: target, BootSourceOverrideEnabled: enabled, ...more },
  });
const powerStateOf = async (node: Node) => (await clientOf(node).get(systemOf(node))).body.PowerState;

function real(node: Node): QemuMachine {
  assert.ok(node.machine instanceof QemuMachine);
  return node.machine;
}

async function install(node: Node, text: string, end: BootSectorEnd): Promise<void> {
  await writeFile(real(node).diskFiles[0] ?? assert.fail(), bootSector(text, end), { flag: 'r+' });
}

test('a machine has power from On until ForceOff, which stops its system', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add(qemu);
  await install(node, 'up and running', 'stays');
  assert.equal(await powerStateOf(node), 'Off');
  assert.equal((await reset(node, 'On')).status, 204);
  await node.serial.waitForLine(/^up and running$/, soon());
  assert.equal(await powerStateOf(node), 'On');
  await reset(node, 'ForceOff');
  await node.until(({ power }) => power === 'Off', soon());
  assert.deepEqual(node.powerLog, ['On', 'Off']);
  assert.equal(node.boots[0]?.outcome, 'lost power');
});

test('a machine whose system powers it off is reported Off', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add(qemu);
  await install(node, 'bye', 'powers off');
  await reset(node, 'On');
  await node.until(({ powerLog }) => powerLog.length === 2, soon());
  assert.equal(await powerStateOf(node), 'Off');
  assert.equal(node.boots[0]?.outcome, 'powered itself off');
  assert.match(await readFile(real(node).serialLog, 'utf8'), /bye/);
});

test('a graceful shutdown is the power button: a system with ACPI shuts down, a BIOS without a system stays on', async () => {
  await using fleet = await startFleet();
  const cooperative = await fleet.add(qemu);
  const empty = await fleet.add(qemu);
  await install(cooperative, 'listening', 'obeys the power button');
  for (const node of [cooperative, empty]) await reset(node, 'On');
  await cooperative.serial.waitForLine(/^listening$/, soon());
  await empty.serial.waitForLine(/No bootable device/, soon());
  for (const node of [cooperative, empty]) await reset(node, 'GracefulShutdown');
  await cooperative.until(({ power }) => power === 'Off', soon());
  assert.equal(cooperative.boots[0]?.outcome, 'powered itself off');
  await empty.until(({ bootLog }) => bootLog.includes('power button'), soon());
  assert.equal(empty.power, 'On');
  await reset(empty, 'ForceOff');
  await empty.until(({ power }) => power === 'Off', soon());
});

test('restarts by the BMC go through Off, the graceful one after the shutdown of the system', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add(qemu);
  await install(node, 'listening', 'obeys the power button');
  const starts = (count: number) =>
    node.until(() => node.serial.last().filter((line) => line === 'listening').length === count, soon());
  using _lines = node.serial.onLine(() => node.machine.touch());
  await reset(node, 'On');
  await starts(1);
  await reset(node, 'PowerCycle');
  await starts(2);
  await reset(node, 'GracefulRestart');
  await starts(3);
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off', 'On']);
  assert.deepEqual(
    node.boots.map(({ outcome }) => outcome),
    ['lost power', 'powered itself off', undefined],
  );
});

test('a one-time network boot fetches the entry script, then tries the disk, which is first after a reset', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add(qemu);
  await install(node, 'from disk', 'resets');
  await using server = await startTestBootServer(() => ({
    '/ipxe': '#!ipxe\nchain ${cwduri}/ipxe/${uuid} || echo no script\n',
    [`/ipxe/${node.uuid}`]: '#!ipxe\necho told to exit\nexit\n',
  }));
  fleet.setBootUrl(server.url);
  assert.equal((await override(node, 'Pxe')).status, 204);
  await reset(node, 'On');
  await server.untilRequested('GET /ipxe');
  await node.serial.waitForLine(/^from disk$/, soon());
  await install(node, 'from disk again', 'stays');
  await node.serial.waitForLine(/^from disk again$/, soon());
  assert.deepEqual(
    node.boots.slice(0, 2).map((boot) => [boot.override, boot.outcome]),
    [
      ['Pxe', 'reset itself'],
      [undefined, node.boots.length > 2 ? 'reset itself' : undefined],
    ],
  );
  assert.equal(server.requests.filter(({ requestLine }) => requestLine === 'GET /ipxe').length, 1);
  assert.deepEqual(node.powerLog, ['On'], 'a reset from inside keeps the power on');
});

test('a continuous override applies to each start, and a machine without one sends no request', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add(qemu);
  await install(node, 'from disk', 'powers off');
  await using server = await startTestBootServer(() => ({ '/ipxe': '#!ipxe\nexit\n' }));
  fleet.setBootUrl(server.url);
  const start = async () => {
    const count = node.powerLog.length + 2;
    await reset(node, 'On');
    await node.until(({ powerLog }) => powerLog.length === count, soon());
    return server.requests.length;
  };
  assert.equal(await start(), 0);
  await override(node, 'Pxe', 'Continuous');
  assert.equal(await start(), 1);
  assert.equal(await start(), 2);
  await override(node, 'Pxe', 'Disabled');
  assert.equal(await start(), 2);
});

test('a machine that hangs is on and ignores its power button, and continues when it is healed', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add(qemu);
  await install(node, 'listening', 'obeys the power button');
  node.machine.hang();
  await reset(node, 'On');
  await node.until(({ power }) => power === 'On', soon());
  await reset(node, 'GracefulShutdown');
  assert.equal(await powerStateOf(node), 'On');
  await reset(node, 'ForceOff');
  await node.until(({ power }) => power === 'Off', soon());
  assert.deepEqual(node.serial.last(), [], 'its processor has not run');
  await reset(node, 'On');
  await node.until(({ power }) => power === 'On', soon());
  node.machine.heal();
  await node.serial.waitForLine(/^listening$/, soon());
});

test('OVMF fetches the entry script through the network card, and keeps its variables', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add({ ...qemu, qemu: { firmware: 'OVMF' } });
  await using server = await startTestBootServer(() => ({ '/ipxe': hangs }));
  fleet.setBootUrl(server.url);
  await override(node, 'Pxe');
  await reset(node, 'On');
  await server.untilRequested('GET /ipxe');
  await node.serial.waitForLine(/^Features: .*\bEFI\b/, soon());
  await reset(node, 'ForceOff');
  await node.until(({ power }) => power === 'Off', soon());
  const variables = await readFile(real(node).firmwareVariables);
  assert.ok(variables.includes(Buffer.from('UEFI PXEv4', 'utf16le')), 'its boot entry is kept for the next start');
});

test('UEFI HTTP boot fetches the URL of the override with the firmware of the machine', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add({ ...qemu, qemu: { firmware: 'OVMF' } });
  await using server = await startTestBootServer(() => ({}));
  await override(node, 'UefiHttp', 'Once', { HttpBootUri: `${server.url}/system.efi` });
  await reset(node, 'On');
  await server.untilRequested('HEAD /system.efi');
  assert.equal(server.requests[0]?.requestLine, 'HEAD /system.efi', 'the firmware requests the size first');
});

test('the hardware that Redfish reports is the hardware of QEMU', async () => {
  await using fleet = await startFleet();
  const disks = [{ bytes: 32 * 2 ** 20 }, { kind: 'nvme', bytes: 48 * 2 ** 20 }] as const;
  const node = await fleet.add({ ...qemu, vendor: 'hpe', qemu: { memoryMiB: 384, cores: 2, disks } });
  const { hardware, diskFiles } = real(node);
  const { body } = await clientOf(node).get(systemOf(node));
  assert.equal(body.UUID, node.uuid.toUpperCase());
  assert.equal(body.SerialNumber, hardware.serialNumber);
  assert.deepEqual(body.MemorySummary, { TotalSystemMemoryGiB: 0.375 });
  assert.deepEqual(
    hardware.disks.map(({ name, bytes }) => [name, bytes]),
    [
      ['vda', 32 * 2 ** 20],
      ['nvme0n1', 48 * 2 ** 20],
    ],
  );
  assert.deepEqual(await Promise.all(diskFiles.map(async (file) => (await stat(file)).size)), [2 ** 25, 48 * 2 ** 20]);
  await using server = await startTestBootServer((url) => ({
    '/ipxe': `#!ipxe\nchain ${guestUrl(url)}/\${uuid}/\${serial}/\${mac:hexhyp}\n`,
  }));
  fleet.setBootUrl(server.url);
  await override(node, 'Pxe');
  await reset(node, 'On');
  const mac = hardware.nics[0]?.macAddress.replaceAll(':', '-');
  await server.untilRequested(`GET /${node.uuid}/${hardware.serialNumber}/${mac}`);
});

test('a CD that is inserted with Redfish boots, and is ejected', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add(qemu);
  await using server = await startTestBootServer(() => ({ '/system.iso': Buffer.alloc(2 ** 20, 1) }));
  const cd = `${systemOf(node)}/VirtualMedia/Cd`;
  const act = (action: string, body: unknown) =>
    clientOf(node).send('POST', `${cd}/Actions/VirtualMedia.${action}`, body);
  assert.equal((await act('InsertMedia', { Image: `${server.url}/missing.iso` })).status, 400);
  assert.equal((await act('InsertMedia', { Image: `${server.url}/system.iso` })).status, 204);
  assert.equal((await act('InsertMedia', { Image: `${server.url}/system.iso` })).status, 409);
  assert.equal((await clientOf(node).get(cd)).body.Inserted, true);
  await override(node, 'Cd');
  await reset(node, 'On');
  await node.serial.waitForLine(/Booting from DVD\/CD/, soon());
  assert.equal((await act('EjectMedia', {})).status, 204);
  assert.equal((await clientOf(node).get(cd)).body.Inserted, false);
  assert.equal((await act('InsertMedia', { Image: `${server.url}/system.iso` })).status, 204, 'also while it is on');
});

test('a machine whose QEMU does not start is off, with the reason in its log', async () => {
  await using fleet = await startFleet();
  const node = await fleet.add(qemu);
  await rm(real(node).diskFiles[0] ?? assert.fail());
  await reset(node, 'On');
  await node.until(({ bootLog }) => bootLog.some((line) => line.startsWith('QEMU did not start: ')), soon());
  assert.equal(node.power, 'Off');
  assert.deepEqual(node.powerLog, []);
});

test('the machines of a killed process stop at once, and their files are removed', async () => {
  await using server = await startTestBootServer(() => ({ '/ipxe': hangs }));
  const fleet = fileURLToPath(new URL('test-fleet.ts', import.meta.url));
  const child = spawn(process.execPath, [fleet, server.url], { stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(child, 'exit');
  await server.untilRequested('GET /ipxe');
  const connection = server.untilClosed('GET /ipxe');
  child.kill('SIGKILL');
  await exited;
  await connection;
});

test('an isolated guest reaches the given addresses, and nothing else', async () => {
  await using given = await startTestBootServer((url) => ({
    '/ipxe': `#!ipxe\nchain --timeout 3000 http://10.0.2.2:${new URL(url).port}/other || chain ${guestUrl(url, true)}/given || exit\n`,
    '/given': '#!ipxe\necho reached what it was given\nexit\n',
    '/other': '#!ipxe\nexit\n',
  }));
  await using fleet = await startFleet({ bootUrl: given.url });
  const node = await fleet.add({ ...qemu, qemu: { reaches: [given.url] } });
  await override(node, 'Pxe');
  await reset(node, 'On');
  await node.serial.waitForLine(/^reached what it was given$/, soon());
  assert.deepEqual(
    given.requests.map(({ requestLine }) => requestLine),
    ['GET /ipxe', 'GET /given'],
  );
});
