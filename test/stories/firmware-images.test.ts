import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Event, Secret } from '@metal/kube/kinds/builtin.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { type FirmwareStory, startFirmwareStory } from '../fixtures/firmware-fixture.ts';

const startTestenv = testenvsOfFile();
const namespace = 'default';
const simpleUpdate = 'POST /redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate';
const credentials = { username: 'image-reader', password: 'Top-Secret/4711' };
const encoded = (text: string): string => Buffer.from(text).toString('base64');

const createSecret = ({ testenv }: FirmwareStory, { username, password }: typeof credentials, name = 'images') =>
  testenv.client.create(Secret, {
    metadata: { name, namespace },
    data: { username: encoded(username), password: encoded(password) },
  });

/** Neither objects nor events have the password, in any spelling. */
async function assertNoSecret({ testenv }: FirmwareStory, { password }: typeof credentials): Promise<void> {
  const { items: events } = await testenv.client.list(Event);
  const { biosVersions } = testenv.updates;
  const text = JSON.stringify([...biosVersions.all(), ...events, ...testenv.maintenances.all(), ...testenv.bmcs.all()]);
  for (const spelling of [password, encodeURIComponent(password), encoded(password)])
    assert.equal(text.includes(spelling), false, `found ${spelling}`);
}

test('the BMC fetches the image with user and password of the Secret, each in its place', async () => {
  await using story = await startFirmwareStory(startTestenv, { credentials });
  await createSecret(story, credentials);
  const bios = await story.bios('bios', '99.1', {
    image: { ...story.image('BIOS', '99.1'), secretRef: { name: 'images' } },
  });
  await bios.reaches('Completed');
  assert.deepEqual(story.flashed, ['BIOS 99.1']);
  await assertNoSecret(story, credentials);
});

test('wrong credentials of an image fail the object, and its status and events do not have them', async () => {
  await using story = await startFirmwareStory(startTestenv, { credentials });
  const wrong = { ...credentials, password: 'Wrong-Secret/4712' };
  await createSecret(story, wrong);
  const bios = await story.bios('bios', '99.1', {
    image: { ...story.image('BIOS', '99.1'), secretRef: { name: 'images' } },
  });
  const { status } = await bios.reaches('Failed');
  assert.match(status?.failure?.message ?? '', /401/);
  await story.testenv.server(story.node).hasReason('Available');
  assert.deepEqual(story.flashed, []);
  await assertNoSecret(story, wrong);
});

for (const [what, keys] of [
  ['does not exist', undefined],
  ['has no password', { username: encoded('reader') }],
] as const)
  test(`a Secret that ${what} is refused before a maintenance`, async () => {
    await using story = await startFirmwareStory(startTestenv, { credentials });
    if (keys !== undefined)
      await story.testenv.client.create(Secret, { metadata: { name: 'images', namespace }, data: keys });
    const bios = await story.bios('bios', '99.1', {
      image: { ...story.image('BIOS', '99.1'), secretRef: { name: 'images' } },
    });
    const { status } = await bios.reaches('Failed');
    assert.equal(status?.failure?.reason, 'ImageRefused');
    assert.match(status?.failure?.message ?? '', /default\/images/);
    assert.equal(story.testenv.maintenances.size, 0);
    assert.equal(story.node.bmc.traffic.byRoute.get(simpleUpdate), undefined);
  });

test('the operator does not log the password of an image', async () => {
  const lines: string[] = [];
  await using story = await startFirmwareStory(startTestenv, {
    credentials,
    operator: 'none',
    speed: 1,
    begin: (testenv) => testenv.startOperatorProcess(['--zap-log-level=debug'], (line) => lines.push(line)),
  });
  await createSecret(story, credentials);
  const right = { ...story.image('BIOS', '99.1'), secretRef: { name: 'images' } };
  story.node.bmc.set({ rejectsUpdates: true });
  const bios = await story.bios('bios', '99.1', { image: right });
  await bios.reaches('Failed');
  assert.ok(lines.length > 0);
  for (const spelling of [credentials.password, encoded(credentials.password)])
    assert.deepEqual(
      lines.filter((line) => line.includes(spelling)),
      [],
    );
});

test('updatePolicy Force makes the BMC install what it would reject', async () => {
  await using story = await startFirmwareStory(startTestenv);
  const bios = await story.bios('bios', '0.1', { updatePolicy: 'Force' });
  await bios.reaches('Completed');
  assert.deepEqual(
    story.node.bmc.flashes.map(({ version, isForced }) => [version, isForced]),
    [['0.1', true]],
  );
});

test('upgradePolicy Newer leaves a later version, and Exact installs the older one', async () => {
  await using story = await startFirmwareStory(startTestenv);
  const newer = await story.bios('newer', '0.9', { upgradePolicy: 'Newer' });
  await newer.reaches('Completed');
  assert.deepEqual(story.flashed, []);
  await story.testenv.updates.biosVersions.patch('newer', { spec: { upgradePolicy: 'Exact' } });
  await newer.until('installed it', ({ status }) => status?.installedVersion === '0.9' && status.state === 'Completed');
  assert.deepEqual(story.flashed, ['BIOS 0.9']);
});

for (const vendor of ['generic', 'supermicro'] as const)
  test(`the operator sends the image itself to a BMC of ${vendor} by delivery Push`, async () => {
    // The server of the images is on this host.
    const flags = ['--refused-image-networks=192.0.2.0/24'];
    await using story = await startFirmwareStory(startTestenv, { vendor, credentials, flags });
    await createSecret(story, credentials);
    const image = { ...story.image('BIOS', '99.1'), secretRef: { name: 'images' }, delivery: 'Push' as const };
    const bios = await story.bios('bios', '99.1', { image });
    await bios.reaches('Completed');
    assert.deepEqual(story.flashed, ['BIOS 99.1']);
    assert.equal(story.node.bmc.traffic.byRoute.get(simpleUpdate), undefined);
    await assertNoSecret(story, credentials);
  });
