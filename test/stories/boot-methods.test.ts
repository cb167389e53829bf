import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();
let directory: string;
let images: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'metal-methods-'));
  images = join(directory, 'images.json');
  await writeFile(join(directory, 'kernel'), 'kernel');
  await writeFile(join(directory, 'initrd'), 'initrd');
  await writeFile(join(directory, 'uki'), 'MZ and all the rest');
  const both = { kernel: 'kernel', initrd: 'initrd' };
  await writeFile(images, JSON.stringify({ classic: both, uki: { uki: 'uki' }, all: { ...both, uki: 'uki' } }));
});
after(() => rm(directory, { recursive: true }));

const flagsFor = (image: string): string[] => [`--boot-images=${images}`, `--probe-os-image=${image}`];

for (const { image, targets, method, target } of [
  { image: 'classic', targets: undefined, method: 'iPXE', target: 'Pxe' },
  { image: 'all', targets: undefined, method: 'iPXE', target: 'Pxe' },
  { image: 'uki', targets: undefined, method: 'UefiHttp', target: 'UefiHttp' },
  { image: 'all', targets: ['None', 'Pxe', 'Hdd'], method: 'iPXE', target: 'Pxe' },
  { image: 'all', targets: ['None', 'UefiHttp', 'Hdd'], method: 'iPXE', target: 'UefiHttp' },
  { image: 'uki', targets: ['None', 'Pxe', 'Hdd'], method: 'UefiHttp', target: 'Pxe' },
] as const) {
  const offered = targets === undefined ? 'everything' : targets.join(', ');
  test(`image ${image} on a BMC with targets ${offered} is discovered by ${method} with target ${target}`, async () => {
    await using testenv = await startTestenv({ flags: flagsFor(image) });
    const node = await testenv.fleet.add({ vendor: 'dell', ...(targets && { quirks: { bootTargets: targets } }) });
    testenv.timeline.follow(node);
    await testenv.plugIn(node);
    const boot = await testenv.bootOf(node).until('is prepared', ({ status }) => status?.state === 'Ready');
    assert.equal(boot.status?.boot?.method, method);
    const server = await testenv.server(node).reaches('Available');
    assert.equal(node.boots[0]?.override, target);
    assert.deepEqual(server.status?.bootTargets, targets ?? node.bmc.profile.bootTargets);
  });
}

test('a BMC without a network boot target is not powered on, and both boot methods are named', async () => {
  await using testenv = await startTestenv({ flags: flagsFor('uki') });
  const node = await testenv.fleet.add({ quirks: { bootTargets: ['None', 'Hdd'] } });
  testenv.timeline.follow(node);
  await testenv.plugIn(node);
  const server = await testenv.server(node).hasReason('BootConfigurationFailed');
  const ready = server.status?.conditions?.find(({ type }) => type === 'Ready');
  assert.match(ready?.message ?? '', /cannot be booted \(NoBootMethod\); its condition Ready has the cause/);
  await testenv.bootOf(node).hasMessage(/NoBootMethod: .*UefiHttp: the server does not offer it/);
  assert.deepEqual(node.powerLog, []);
});

test('a BMC that rejects a boot target it offers gets the other one, with an event', async () => {
  await using testenv = await startTestenv({ flags: flagsFor('uki') });
  const node = await testenv.fleet.add({ vendor: 'generic', quirks: { refusedTargets: ['UefiHttp'] } });
  testenv.timeline.follow(node);
  await testenv.plugIn(node);
  const server = await testenv.server(node).reaches('Available');
  assert.equal(node.boots[0]?.override, 'Pxe');
  await testenv.hasEvent(server, 'BootTargetRefused', 'It boots from Pxe instead');
});

test("firmware that does not reach the image gets the other boot method, and the BMC's network cards are known", async () => {
  await using testenv = await startTestenv({ flags: flagsFor('all'), speed: 100 });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  testenv.fleet.setBootUrl(undefined);
  await testenv.plugIn(node);
  const server = await testenv.server(node).exists();
  await testenv.hasEvent(server, 'BootMethodOverdue', 'the next attempt boots by UefiHttp');
  const boot = await testenv
    .bootOf(node)
    .until('is prepared again', ({ status }) => status?.state === 'Ready' && status.boot?.method === 'UefiHttp');
  assert.deepEqual(boot.status?.boot?.methods, ['UefiHttp', 'iPXE']);
  await testenv
    .machine(node)
    .until('is started with the other method', () => node.boots.at(-1)?.override === 'UefiHttp');
  const macs = testenv.server(node).now?.status?.networkInterfaces?.map(({ macAddress }) => macAddress.toLowerCase());
  assert.deepEqual(
    macs,
    node.machine.hardware.nics.map(({ macAddress }) => macAddress.toLowerCase()),
  );
});
