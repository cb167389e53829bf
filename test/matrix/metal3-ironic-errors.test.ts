import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { BackEndNotReady } from '@metal/metal3/provisioner/back-end.ts';
import type { Provisioner } from '@metal/metal3/provisioner/provisioner.ts';
import { done } from '@metal/metal3/provisioner/step-result.ts';
import { type IronicFixture, startIronicFixture } from '@metal/testenv/ironic/ironic-fixture.ts';
import type { RelayedRequest, RelayFault } from '@metal/testenv/ironic/ironic-relay.ts';

const login = { username: 'metal3', password: 'ironic-password' };
let fixture: IronicFixture;
let loginDirectory: string;
before(async () => {
  loginDirectory = await mkdtemp(join(tmpdir(), 'metal-login-'));
  await writeLogin(login.password);
  fixture = await startIronicFixture({ login }, { loginDirectory });
});
after(async () => {
  await fixture?.[Symbol.asyncDispose]();
  await rm(loginDirectory, { recursive: true });
});

async function writeLogin(password: string): Promise<void> {
  await writeFile(join(loginDirectory, 'username'), `${login.username}\n`);
  await writeFile(join(loginDirectory, 'password'), `${password}\n`);
}

/** A fault of requests with this method and path, until it is disposed. */
function failing(method: string, path: RegExp, fault: RelayFault): Disposable {
  fixture.relay.setFault((request: RelayedRequest) =>
    request.method === method && path.test(request.path) ? fault : undefined,
  );
  return { [Symbol.dispose]: () => fixture.relay.setFault(() => undefined) };
}

const answer = (status: number, text: string): RelayFault => ({
  kind: 'answer',
  status,
  body: JSON.stringify({ error_message: JSON.stringify({ faultstring: text, faultcode: 'Client' }) }),
});
const locked = answer(409, 'Node is locked by host, please retry.');
const verb = /states\/provision$/;

test('HTTP Basic authentication uses the files of the login, also after they change', async () => {
  const host = fixture.host();
  assert.deepEqual(await host.until(), done);
  await writeLogin('another-password');
  await assert.rejects(host.provisioner(), (error: Error) => {
    assert.ok(error instanceof BackEndNotReady);
    assert.match(error.message, /401/);
    assert.doesNotMatch(error.message, /another-password/);
    return true;
  });
  await writeLogin(login.password);
  assert.deepEqual(await host.until(), done);
  await writeFile(join(loginDirectory, 'password'), '\n');
  await assert.rejects(host.provisioner(), /expected a user name and a password for Ironic/);
  await writeLogin(login.password);
});

test('a locked node is asked again after three seconds, and its ID is known', async () => {
  const host = fixture.host();
  {
    using _ = failing('PUT', verb, locked);
    const { result, id } = await (await host.provisioner()).register(host.registrationData());
    assert.ok(result.kind === 'busy' && result.delayMs >= 3_000 && result.delayMs <= 3_750);
    assert.equal(result.message, undefined);
    assert.match(id ?? '', /^[0-9a-f-]{36}$/);
  }
  assert.deepEqual(await host.until(), done);
});

test('what Ironic refuses at present is awaited with its text', async () => {
  const host = fixture.host();
  const refused = answer(409, 'The node is associated with an instance.');
  assert.deepEqual(await host.until((provisioner) => provisioner.powerOn({ isForced: false })), done);
  using _ = failing('PUT', /states\/power$/, refused);
  const result = await (await host.provisioner()).powerOff({ ...off, cleaning: 'disabled' });
  assert.ok(result.kind === 'busy');
  assert.match(result.message ?? '', /^Ironic rejected PUT .* with 409: The node is associated with an instance\.$/);
});

test('an error of Ironic is thrown with its text, and without the password of the BMC', async () => {
  const host = fixture.host();
  using _ = failing('POST', /^nodes$/, answer(503, `no conductor for ${host.credentials.password}`));
  const registered = (await host.provisioner()).register(host.registrationData());
  await assert.rejects(registered, /Ironic rejected POST nodes with 503: no conductor for \*\*\*$/);
});

test('a truncated response, and one that is no JSON, change nothing', async () => {
  const host = fixture.host();
  assert.deepEqual(await host.until(), done);
  const provisioner = await host.provisioner();
  {
    using _ = failing('GET', /^nodes\//, { kind: 'truncated' });
    await assert.rejects(provisioner.readPower(), /no answer of Ironic .* to GET nodes\//);
  }
  using _ = failing('GET', /^nodes\//, { kind: 'answer', status: 200, body: '<html>login</html>' });
  await assert.rejects((await host.provisioner()).readPower(), /is no JSON/);
});

test('a request has a deadline, and ends with its pass', async () => {
  const backEnd = fixture.backEndWith({ loginDirectory, timeoutMs: 2_000 });
  const host = fixture.host({}, { backEnd });
  assert.deepEqual(await host.until(), done);
  using _ = failing('GET', /^nodes\//, { kind: 'silent' });
  await assert.rejects((await host.provisioner()).readPower(), /no answer of Ironic .* within 2 s/);
  const pass = new AbortController();
  const power = (await host.provisioner(pass.signal)).readPower();
  pass.abort(new Error('the operator stops'));
  await assert.rejects(power, /the operator stops/);
});

test('a node that vanishes during a pass is unregistered', async () => {
  const host = fixture.host();
  assert.deepEqual(await host.until(), done);
  using _ = failing('PUT', verb, answer(404, 'Node could not be found.'));
  const data = { cleaning: 'disabled', restartsAfterFailure: false } as const;
  assert.deepEqual(await (await host.provisioner()).deprovision(data), { kind: 'unregistered' });
});

const off = { mode: 'hard', isForced: false } as const;
const firmware = { settings: {}, updates: [] };
const servicing = { firmware, isUnprepared: false, restartsAfterFailure: false };
type Operation = (provisioner: Provisioner) => Promise<unknown>;
/** States that need a ramdisk, which fake hardware has not: what they lead to. */
const waitingStates: [title: string, state: string, target: string, operation: Operation, verbs: string[]][] = [
  [
    'a manual cleaning ends for a power-off',
    'clean wait',
    'manageable',
    (provisioner) => provisioner.powerOff({ ...off, cleaning: 'metadata' }),
    ['abort'],
  ],
  [
    'an automated cleaning goes on',
    'clean wait',
    'available',
    (provisioner) => provisioner.powerOff({ ...off, cleaning: 'metadata' }),
    [],
  ],
  [
    'an automated cleaning that nobody wants ends for a power-off',
    'clean wait',
    'available',
    (provisioner) => provisioner.powerOff({ ...off, cleaning: 'disabled' }),
    ['abort'],
  ],
  [
    'a servicing goes on',
    'service wait',
    'active',
    (provisioner) => provisioner.service({ ...servicing, hasFirmwareSpec: true }),
    [],
  ],
  [
    'a servicing whose settings were removed ends',
    'service wait',
    'active',
    (provisioner) => provisioner.service({ ...servicing, hasFirmwareSpec: false }),
    ['abort'],
  ],
  ['a cleaning is not left for a deletion', 'clean wait', 'available', (provisioner) => provisioner.delete(), []],
  [
    'a deployment is left for a forced detachment only',
    'wait call-back',
    'active',
    (provisioner) => provisioner.detach({ isForced: false }),
    [],
  ],
];
for (const [title, state, target, operation, verbs] of waitingStates)
  test(`in state ${state}, ${title}`, async () => {
    const host = fixture.host();
    assert.deepEqual(await host.until(), done);
    const node = { ...(await fixture.node(host)), provision_state: state, target_provision_state: target };
    fixture.relay.clear();
    const provisioner = await host.provisioner();
    const [read, accepted] = [200, 202].map(
      (status) => ({ kind: 'answer', status, body: JSON.stringify(node) }) as const,
    );
    fixture.relay.setFault(({ method }) => (method === 'GET' ? read : accepted));
    await operation(provisioner).finally(() => fixture.relay.setFault(() => undefined));
    assert.deepEqual(
      fixture.relay.changes.flatMap(({ body }) => Object(body).target ?? []),
      verbs,
    );
    assert.equal(fixture.relay.changes.length, verbs.length);
  });

const versions: [newest: string, sent: string | undefined][] = [
  ['1.82', undefined],
  ['1.89', '1.89'],
  ['1.94', '1.93'],
  ['1.95', '1.95'],
  ['1.109', '1.109'],
  ['1.110', '1.110'],
  ['1.200', '1.110'],
];
for (const [newest, sent] of versions) {
  test(`an Ironic whose newest API is ${newest} gets requests of ${sent ?? 'no version'}`, async () => {
    const headers = { 'x-openstack-ironic-api-maximum-version': newest };
    const body = JSON.stringify({ drivers: [{ name: 'fake-hardware' }] });
    using _ = failing('GET', /^drivers$/, { kind: 'answer', status: 200, body, headers });
    fixture.relay.clear();
    const host = fixture.host();
    if (sent === undefined) {
      await assert.rejects(host.provisioner(), /expected an API of at least 1\.89/);
      return;
    }
    assert.deepEqual(await host.until(), done);
    const created = fixture.relay.requests.find(({ method }) => method === 'POST');
    assert.equal(created?.headers['openstack-api-version'], `baremetal ${sent}`);
    assert.equal('disable_power_off' in Object(created?.body), Number(sent.slice(2)) >= 95);
  });
}

test('an Ironic without drivers is not ready', async () => {
  const headers = { 'x-openstack-ironic-api-maximum-version': '1.115' };
  using _ = failing('GET', /^drivers$/, { kind: 'answer', status: 200, body: '{"drivers": []}', headers });
  await assert.rejects(fixture.host().provisioner(), /no conductor is running/);
});

test('a machine of the operator is refused, and Ironic hears nothing of it', async () => {
  const rejection = 'Server s of this operator';
  const backEnd = fixture.backEndWith({ loginDirectory }, { rejectionOf: () => rejection });
  fixture.relay.clear();
  assert.deepEqual(await fixture.host({}, { backEnd }).until(), { kind: 'failed', message: rejection });
  assert.deepEqual(fixture.relay.changes, []);
});

test('Ironic counts as ready for a while without another request', async () => {
  const backEnd = fixture.backEndWith({ loginDirectory, readyForMs: 60_000 });
  const host = fixture.host({}, { backEnd });
  fixture.relay.clear();
  assert.deepEqual(await host.until(), done);
  assert.equal(fixture.relay.requests.filter(({ path }) => path === 'drivers').length, 1);
});

const at = (address: string) => ({ bmc: { address, credentialsName: 'bmc' } });
const withoutMac = (address: string) => ({ ...at(address), bootMACAddress: '' });
const rejected: [title: string, spec: object, registration: object, options: object, message: RegExp][] = [
  ['a malformed address', at('nonsense://x'), {}, {}, /unknown type "nonsense"/],
  ['a fast inspection by IPMI', at('ipmi://192.0.2.1'), { inspection: 'fast' }, {}, /^spec\.inspectionMode: /],
  ['Secure Boot by IPMI', at('ipmi://192.0.2.1'), { bootMode: 'UEFISecureBoot' }, {}, /^spec\.bootMode: /],
  [
    'PXE without its network',
    at('ipmi://192.0.2.1'),
    {},
    { isProvisioningNetworkDisabled: true },
    /provisioning network/,
  ],
  ['libvirt without a MAC address', withoutMac('libvirt://192.0.2.1'), {}, {}, /^spec\.bootMACAddress: /],
  [
    'no inspection and no MAC address',
    withoutMac('fake://a'),
    { inspection: 'disabled' },
    {},
    /^spec\.bootMACAddress: /,
  ],
];
for (const [title, spec, registration, options, message] of rejected) {
  test(`${title} is a failure of the registration, and the host can be deleted`, async () => {
    const backEnd = fixture.backEndWith({ loginDirectory, ...options });
    const host = fixture.host(spec, { backEnd });
    const result = await host.until(undefined, registration);
    assert.ok(result.kind === 'failed');
    assert.match(result.message, message);
    assert.ok(result.message.length <= 200, `${result.message.length} characters`);
    assert.deepEqual(await host.untilAlone((provisioner) => provisioner.delete()), done);
  });
}
