import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { rebootAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { type HostTestenv, startHostTestenv } from '@metal/testenv/metal3/host-testenv.ts';

const image = { url: 'http://images.test/os.raw', checksum: 'abc', format: 'raw' } as const;
const isOn = ({ status }: BareMetalHost): boolean => status?.poweredOn === true;
const isOff = ({ status }: BareMetalHost): boolean => status?.poweredOn === false;

suite('The power of a BareMetalHost', { concurrency: true }, () => {
  let testenv: HostTestenv;
  before(async () => {
    testenv = await startHostTestenv();
    await testenv.start();
  });
  after(async () => testenv[Symbol.asyncDispose]());

  /** A host with an image that is on. Returns what its machine does from then on. */
  async function running(name: string, spec: Partial<BareMetalHost['spec']> = {}) {
    await testenv.host(name, { spec: { image, ...spec } });
    const host = testenv.hosts.named(name);
    await host.reaches('provisioned');
    await host.until('is on', isOn);
    const { started } = testenv.backEnd.machine(name);
    const before = started.length;
    return { host, since: () => started.slice(before) };
  }

  const annotate = (name: string, key: string, text: string | null) =>
    testenv.hosts.patch(name, { metadata: { annotations: { [key]: text } } });

  test('the annotation for a restart is removed when the host is off, and the host is on again', async () => {
    const { host, since } = await running('restart');
    await annotate('restart', rebootAnnotation, '');
    await host.until('is off', isOff);
    await host.until('has no annotation', ({ metadata }) => metadata.annotations?.[rebootAnnotation] === undefined);
    await host.until('is on', isOn);
    assert.deepEqual(since(), ['powerOff', 'powerOn']);
    assert.equal(host.now?.status?.provisioning.state, 'provisioned');
  });

  test('the annotation of a client holds the host off until the client removes it', async () => {
    const { host, since } = await running('held');
    const key = `${rebootAnnotation}/client`;
    await annotate('held', key, JSON.stringify({ mode: 'hard' }));
    await host.until('is off', isOff);
    await testenv.backEnd.untilCalled('held', 'register');
    assert.equal(host.now?.metadata.annotations?.[key], JSON.stringify({ mode: 'hard' }));
    assert.deepEqual(since(), ['powerOff']);
    await annotate('held', key, null);
    await host.until('is on', isOn);
    assert.deepEqual(since(), ['powerOff', 'powerOn']);
  });

  test('a request that is not understood restarts softly and is reported', async () => {
    const { host } = await running('unclear');
    await annotate('unclear', rebootAnnotation, '{"mode":');
    await host.until('is off', isOff);
    await host.until('is on', isOn);
    await testenv.hasEvents('unclear', 'InvalidAnnotationValue');
  });

  test('a host that may not be powered off is restarted once', async () => {
    const { host, since } = await running('never-off', { disablePowerOff: true });
    await annotate('never-off', rebootAnnotation, '');
    await host.until('has no annotation', ({ metadata }) => metadata.annotations?.[rebootAnnotation] === undefined);
    for (let pass = 0; pass < 3; pass += 1) await testenv.backEnd.untilCalled('never-off', 'register');
    assert.deepEqual(since(), ['restart']);
    assert.equal(host.now?.status?.poweredOn, true);
  });

  test('a host follows spec.online', async () => {
    const { host, since } = await running('online');
    await testenv.hosts.patch('online', { spec: { online: false } });
    await host.until('is off', isOff);
    await testenv.hosts.patch('online', { spec: { online: true } });
    await host.until('is on', isOn);
    assert.deepEqual(since(), ['powerOff', 'powerOn']);
    await testenv.hasEvents('online', 'PowerOff', 'PowerOn');
  });

  test('a failed power change is an error, which ends with the next one', async () => {
    const { host } = await running('failing');
    testenv.backEnd.fail('failing', 'powerOff', { failure: 'the BMC refuses' });
    await testenv.hosts.patch('failing', { spec: { online: false } });
    const failing = await host.until('has failed', ({ status }) => status?.errorType === 'power management error');
    assert.match(failing.status?.errorMessage ?? '', /a hard one follows: the BMC refuses/);
    testenv.backEnd.repair('failing', 'powerOff');
    const repaired = await host.until('is off', isOff);
    assert.deepEqual([repaired.status?.errorMessage, repaired.status?.errorType], ['', undefined]);
  });

  test('a request without force does not restart an available host', async () => {
    await testenv.host('available');
    const host = testenv.hosts.named('available');
    await host.reaches('available');
    await host.until('is on', isOn);
    await annotate('available', `${rebootAnnotation}/client`, '');
    for (let pass = 0; pass < 2; pass += 1) await testenv.backEnd.untilCalled('available', 'register');
    assert.ok(!testenv.backEnd.machine('available').started.includes('powerOff'));
    await annotate('available', `${rebootAnnotation}/client`, JSON.stringify({ force: true }));
    await host.until('is off', isOff);
  });
});
