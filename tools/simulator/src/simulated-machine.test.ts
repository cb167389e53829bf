import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { clockOfSpeed } from './clock.ts';
import { type Fleet, type FleetOptions, startFleet } from './fleet.ts';
import type { Node } from './node.ts';
import { SimulatedMachine } from './simulated-machine.ts';
import { bootScript, busy, hangs, probeIgnition, startTestBootServer } from './test-boot-server.ts';

const fast: Partial<FleetOptions> = { clock: clockOfSpeed(200), powerOnMs: 100, powerOffMs: 100, bootMs: 100 };
const soon = () => AbortSignal.timeout(60_000);
const pxe = { target: 'Pxe', isOnce: true, httpUri: undefined };

async function oneMachine(options: Partial<FleetOptions> = {}): Promise<{ fleet: Fleet; node: Node }> {
  const fleet = await startFleet({ ...fast, ...options });
  return { fleet, node: await fleet.add() };
}

const outcome = (node: Node) => node.boots.at(-1)?.outcome;

test('a machine with a network boot override runs the probe with its token', async () => {
  await using fleet = await startFleet(fast);
  const node = await fleet.add();
  const source = `data:;base64,${gzipSync('the-token\n').toString('base64')}`;
  await using server = await startTestBootServer((url) => ({
    [`/ipxe/${node.uuid}`]: bootScript(url, `quiet ignition.config.url=${url}/ignition`),
    '/kernel': 'kernel',
    '/initrd': Buffer.alloc(70_000),
    '/ignition': probeIgnition({ registryUrl: url, uuid: node.uuid, tokenSource: source, compression: 'gzip' }),
    '/register': 201,
  }));
  fleet.setBootUrl(server.url);
  node.machine.override = pxe;
  node.machine.turnOn();
  assert.equal(node.power, 'PoweringOn');
  await node.until((it) => outcome(it) === 'probe', soon());
  assert.deepEqual(node.bootLog, ['network: probe', 'probe: reported']);
  assert.equal(node.machine.override, undefined, 'a one-time override is used once');
  assert.equal(node.running?.initrd?.bytes, 70_000);
  assert.match(node.running?.kernel.sha256 ?? '', /^[0-9a-f]{64}$/);
  assert.equal(node.running?.parameters.quiet, '');
  const report = server.requests.find(({ requestLine }) => requestLine === 'POST /register');
  assert.equal(report?.authorization, 'Bearer the-token');
  const { systemUUID, data } = JSON.parse(report?.body ?? '{}');
  assert.equal(systemUUID, node.uuid);
  assert.equal(data.systemInfo.systemInformation.serialNumber, node.machine.hardware.serialNumber);
  assert.deepEqual(
    node.requests.map(({ method, url, status }) => `${method} ${new URL(url).pathname} ${status}`),
    [`GET /ipxe/${node.uuid} 200`, 'GET /kernel 200', 'GET /initrd 200', 'GET /ignition 200'],
  );
});

test('a probe in the firmware reports without a boot service and a token', async () => {
  await using server = await startTestBootServer(() => ({ '/register': 201 }));
  const { fleet, node } = await oneMachine({ probeRegistryUrl: server.url });
  await using _ = fleet;
  node.machine.override = pxe;
  node.machine.turnOn();
  await node.until((it) => outcome(it) === 'probe', soon());
  assert.deepEqual(
    server.requests.map(({ requestLine, authorization }) => [requestLine, authorization]),
    [['POST /register', undefined]],
  );
  assert.equal(JSON.parse(server.requests[0]?.body ?? '{}').systemUUID, node.uuid);
});

test('a machine that hangs is on and can only be forced off, and continues when it is healed', async () => {
  const { fleet, node } = await oneMachine();
  await using _ = fleet;
  node.machine.hang();
  node.machine.turnOn();
  await node.until(({ power }) => power === 'On', soon());
  node.machine.turnOff();
  assert.equal(node.power, 'On');
  node.machine.forceOff();
  await node.until(({ power }) => power === 'Off', soon());
  assert.deepEqual(node.bootLog, []);
  node.machine.turnOn();
  await node.until(({ power }) => power === 'On', soon());
  node.machine.heal();
  await node.until((it) => outcome(it) === 'no bootable device', soon());
});

test('a machine whose firmware retries boots when its network is back', async () => {
  await using server = await startTestBootServer(() => ({}));
  const { fleet, node } = await oneMachine({ bootUrl: server.url, bootRetryMs: 30_000 });
  await using _ = fleet;
  node.machine.override = { ...pxe, isOnce: true };
  node.machine.loseNetwork();
  node.machine.turnOn();
  await node.until(({ bootLog }) => bootLog.filter((line) => line === 'no bootable device').length === 2, soon());
  assert.equal(outcome(node), undefined, 'the boot continues');
  node.machine.heal();
  await server.untilRequested(`GET /ipxe/${node.uuid}`);
});

test('a machine without its network gets no response from DHCP until it is healed', async () => {
  await using server = await startTestBootServer(() => ({}));
  const { fleet, node } = await oneMachine({ bootUrl: server.url });
  await using _ = fleet;
  node.machine.override = { ...pxe, isOnce: false };
  node.machine.loseNetwork();
  node.machine.turnOn();
  await node.until((it) => outcome(it) === 'no bootable device', soon());
  assert.deepEqual(node.bootLog, ['network: no answer to DHCP', 'disk: no operating system', 'no bootable device']);
  node.machine.heal();
  node.machine.restart();
  await server.untilRequested(`GET /ipxe/${node.uuid}`);
});

test('an operating system is installed, reports that it is up, and starts from the disk afterwards', async () => {
  const { fleet, node } = await oneMachine();
  await using _ = fleet;
  await using server = await startTestBootServer((url) => ({
    [`/ipxe/${node.uuid}`]: bootScript(url, `metal.boot.evidence=${url}/boot/secret/booted`),
    '/kernel': 'kernel',
    '/initrd': 'initrd',
    '/boot/secret/booted': 200,
  }));
  fleet.setBootUrl(server.url);
  node.machine.override = pxe;
  node.machine.turnOn();
  await node.until((it) => outcome(it) === 'os', soon());
  assert.deepEqual(node.bootLog, ['network: os', 'os: reported that it is up']);
  assert.equal(server.requests.at(-1)?.requestLine, 'POST /boot/secret/booted');

  node.machine.restart();
  assert.equal(node.running === undefined, true, 'nothing runs without power');
  await node.until((it) => it.boots[1]?.outcome === 'os', soon());
  const kernel = `${server.url}/kernel`;
  assert.equal(node.running?.kernel.url, kernel);
  assert.deepEqual(
    node.boots.map(({ at: _at, ...boot }) => boot),
    [
      { override: 'Pxe', from: 'network', kernel, ran: 'os', outcome: 'os' },
      { override: undefined, from: 'disk', kernel, ran: 'os', outcome: 'os' },
    ],
  );
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On']);
  assert.equal(server.requests.filter(({ requestLine }) => requestLine.startsWith('POST')).length, 1, 'reported once');
});

test('a machine without a bootable device stays on, with that outcome', async () => {
  const { fleet, node } = await oneMachine();
  await using _ = fleet;
  node.machine.turnOn();
  await node.until((it) => outcome(it) === 'no bootable device', soon());
  assert.equal(node.power, 'On');
  assert.deepEqual(node.bootLog, ['disk: no operating system', 'no bootable device']);
});

test('firmware retries an unreachable boot server a few times', async () => {
  const { fleet, node } = await oneMachine();
  await using _ = fleet;
  await using server = await startTestBootServer(() => ({ [`/ipxe/${node.uuid}`]: 500 }));
  fleet.setBootUrl(server.url);
  node.machine.override = pxe;
  node.machine.turnOn();
  await node.until((it) => outcome(it) === 'no bootable device', soon());
  assert.equal(server.requests.length, 5);
});

test('firmware follows the Retry-After of a boot server without a limit', async () => {
  const { fleet, node } = await oneMachine();
  await using _ = fleet;
  let busyResponses = 0;
  const script = () => {
    busyResponses += 1;
    return busyResponses < 9 ? busy : '#!ipxe\nexit 1\n';
  };
  await using server = await startTestBootServer(() => ({ [`/ipxe/${node.uuid}`]: script }));
  fleet.setBootUrl(server.url);
  node.machine.override = pxe;
  node.machine.turnOn();
  await node.until((it) => outcome(it) === 'no bootable device', soon());
  assert.equal(server.requests.length, 9);
});

test('a loss of power ends a boot at once', async () => {
  const { fleet, node } = await oneMachine();
  await using _ = fleet;
  await using server = await startTestBootServer((url) => ({
    [`/ipxe/${node.uuid}`]: bootScript(url, ''),
    '/kernel': hangs,
  }));
  fleet.setBootUrl(server.url);
  node.machine.override = pxe;
  node.machine.turnOn();
  await server.untilRequested('GET /kernel');
  node.machine.forceOff();
  assert.equal(node.power, 'PoweringOff');
  await node.until((it) => it.power === 'Off', soon());
  assert.equal(outcome(node), 'lost power');
  assert.equal(node.running, undefined);
  assert.deepEqual(node.bootLog, []);
});

test('a boot order with the network first applies to each start', async () => {
  const { fleet, node } = await oneMachine();
  await using _ = fleet;
  await using server = await startTestBootServer(() => ({ [`/ipxe/${node.uuid}`]: '#!ipxe\nexit 1\n' }));
  fleet.setBootUrl(server.url);
  node.machine.bootOrder = ['Boot0002', 'Boot0001'];
  node.machine.turnOn();
  await node.until((it) => outcome(it) === 'no bootable device', soon());
  assert.deepEqual(node.bootLog, [
    'network: the script ended, exit 1',
    'disk: no operating system',
    'no bootable device',
  ]);
});

test('an HttpBootUri is used instead of the boot service', async () => {
  const { fleet, node } = await oneMachine();
  await using _ = fleet;
  await using server = await startTestBootServer(() => ({ '/linux.efi': 'MZ and more' }));
  node.machine.override = { target: 'UefiHttp', isOnce: false, httpUri: `${server.url}/linux.efi` };
  node.machine.turnOn();
  await node.until((it) => outcome(it) === 'os', soon());
  assert.equal(node.running?.kernel.url, `${server.url}/linux.efi`);
  assert.equal(node.machine.override.target, 'UefiHttp', 'a continuous override stays');
});

test('ignition is retried when its server is unreachable, and not after a rejection', async () => {
  const { fleet, node } = await oneMachine();
  await using _ = fleet;
  let tries = 0;
  await using server = await startTestBootServer((url) => ({
    [`/ipxe/${node.uuid}`]: bootScript(url, `ignition.config.url=${url}/ignition`),
    '/kernel': 'kernel',
    '/initrd': 'initrd',
    '/ignition': () => (++tries < 3 ? 503 : 403),
  }));
  fleet.setBootUrl(server.url);
  node.machine.override = pxe;
  node.machine.turnOn();
  await node.until((it) => outcome(it) === 'emergency', soon());
  assert.equal(tries, 3);
  assert.ok(node.machine instanceof SimulatedMachine);
  assert.equal(node.machine.installed, undefined);
});

test('a probe whose report is rejected is restarted as its unit defines', async () => {
  const { fleet, node } = await oneMachine({ clock: clockOfSpeed(2_000) });
  await using _ = fleet;
  let tries = 0;
  await using server = await startTestBootServer((url) => ({
    [`/ipxe/${node.uuid}`]: bootScript(url, `ignition.config.url=${url}/ignition`),
    '/kernel': 'kernel',
    '/initrd': 'initrd',
    '/ignition': probeIgnition({ registryUrl: url, uuid: node.uuid, tokenSource: 'data:,a%2Bb' }),
    '/register': () => (++tries < 2 ? 401 : 200),
  }));
  fleet.setBootUrl(server.url);
  node.machine.override = pxe;
  node.machine.turnOn();
  await node.until((it) => outcome(it) === 'probe', soon());
  assert.equal(tries, 2);
  assert.equal(server.requests.at(-1)?.authorization, 'Bearer a+b');
  assert.equal(node.bootLog.at(-1), 'probe: reported');
});

test('a machine in use is on, with a system on its disk and an empty log', async () => {
  await using fleet = await startFleet(fast);
  const node = await fleet.add({ inUse: true });
  assert.equal(node.power, 'On');
  assert.equal(node.running?.role, 'os');
  assert.deepEqual(node.powerLog, []);
  node.machine.turnOff();
  await node.until((it) => it.power === 'Off', soon());
  node.machine.turnOn();
  await node.until((it) => it.running?.from === 'disk', soon());
});
