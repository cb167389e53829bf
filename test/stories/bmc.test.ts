import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { ConfigMap } from '@metal/kube/kinds/builtin.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { type WatchedObject, untilChanged } from '@metal/testenv/cluster/watched-object.ts';
import type { Fleet } from '@metal/simulator/fleet.ts';
import { pino } from 'pino';

const startTestenv = testenvsOfFile();

const operation = 'metal.ironcore.dev/operation';
const annotate = (testenv: Testenv, name: string, value: string) =>
  testenv.bmcs.patch(name, { metadata: { annotations: { [operation]: value } } });
const operationOf = ({ metadata }: BMC): string | undefined => metadata.annotations?.[operation];
const conditionTypes = (bmc: BMC): string[] => (bmc.status?.conditions ?? []).map(({ type }) => type);

function conditionText(bmc: Pick<BMC | Endpoint, 'status'>, type: string): string {
  const found = bmc.status?.conditions?.find((condition) => condition.type === type);
  return found === undefined ? '' : `${found.status} ${found.reason}: ${found.message}`;
}

const reasonIs = (watched: WatchedObject<BMC>, type: string, expected: string): Promise<BMC> =>
  watched.until(`${type} is ${expected}`, (bmc) => conditionText(bmc, type).startsWith(expected));

/** Resets quickly: two seconds without requests, then a poll every two seconds. */
const quickReset = ['--bmc-reset-waiting-interval=2s', '--bmc-reset-resync-interval=2s'];

test('a BMC that answers 503 is not ready, and is ready again when it recovers', async () => {
  await using testenv = await startTestenv({ flags: ['--bmc-resync-interval=10s'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const connected = await testenv.bmc(node).reaches('Enabled');
  assert.equal(conditionText(connected, 'Ready'), 'True Connected: BMC is connected');
  node.bmc.answer(503);
  const failing = await reasonIs(testenv.bmc(node), 'Ready', 'False ConnectionFailed: BMC service unavailable');
  assert.deepEqual(conditionTypes(failing), ['Ready', 'Healthy'], 'nothing else is reported before a reset');
  await node.bmc.heal();
  const recovered = await reasonIs(testenv.bmc(node), 'Ready', 'True Connected');
  assert.deepEqual(conditionTypes(recovered), ['Ready', 'Healthy']);
});

test('a graceful restart is recorded, requested once, awaited and reported', async () => {
  await using testenv = await startTestenv({ flags: quickReset });
  const [node] = await testenv.addNodes({ hpe: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.bmc(node).reaches('Enabled');
  await annotate(testenv, node.name, 'graceful-restart-bmc');
  const resetting = await testenv.bmc(node).hasCondition('Reset', 'True');
  assert.equal(
    conditionText(resetting, 'Reset'),
    'True UserRequested: BMC reset initiated by user. Waiting for it to come back online.',
  );
  assert.equal(resetting.status?.state, 'Pending');
  const complete = await reasonIs(testenv.bmc(node), 'Reset', 'False ResetComplete: BMC reset is complete');
  assert.equal(operationOf(complete), undefined);
  await testenv.bmc(node).reaches('Enabled');
  assert.deepEqual(node.bmc.resets, [''], 'one reset, of the type that this vendor supports');
  assert.equal(testenv.bmc(node).now?.status?.reset, undefined);
  assert.ok(testenv.bmc(node).now?.status?.lastResetTime);
});

test('an operation that the BMC does not support is removed with a warning, and restarts nothing', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const powerBefore = [...node.powerLog];
  await annotate(testenv, node.name, 'graceful-restart-server');
  await testenv.bmc(node).until('has lost the annotation', (bmc) => operationOf(bmc) === undefined);
  assert.deepEqual([node.bmc.resets, node.powerLog], [[], powerBefore]);
  const warning = await testenv.hasEvent(node.name, 'UnsupportedOperation');
  assert.equal(warning.regarding.kind, 'BMC');
  assert.equal(
    warning.note,
    'Unsupported operation annotation "graceful-restart-server"; a BMC knows graceful-restart-bmc, force-ssh-reset-bmc',
  );
  assert.equal(warning.type, 'Warning');
});

for (const value of ['ignore', 'ignore-child']) {
  test(`the operation annotation ${value} stays on a BMC`, async () => {
    await using testenv = await startTestenv();
    const [node] = await testenv.addNodes({ generic: 1 });
    assert.ok(node);
    await testenv.plugIn(node);
    // With an open breaker the BMC finds no systems.
    await testenv.server(node).exists();
    await annotate(testenv, node.name, value);
    await testenv.server(node).hasReason('Available');
    assert.equal(testenv.bmc(node).now?.metadata.annotations?.[operation], value);
  });
}

test('a BMC whose Redfish service only answers 503 is reset over SSH, once', async () => {
  await using testenv = await startTestenv({
    flags: [...quickReset, '--bmc-resync-interval=10s'],
    fleet: { shells: true },
  });
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.bmc(node).reaches('Enabled');
  node.bmc.answer(503);
  await annotate(testenv, node.name, 'graceful-restart-bmc');
  const resetBySsh = await testenv
    .bmc(node)
    .until('was reset over SSH', ({ status }) => status?.reset?.method === 'SSH' && status.reset.sentAt !== undefined);
  assert.match(conditionText(resetBySsh, 'Reset'), /^True UserRequested/);
  await testenv.accounts(node).until('runs the command', () => node.bmc.shell.commands.length > 0);
  await testenv.clock.sleep(minutes(1));
  const unreachable = testenv.bmc(node).now;
  assert.ok(unreachable);
  assert.match(
    conditionText(unreachable, 'Reset'),
    /^True UserRequested/,
    'the condition stays True while the BMC is unreachable',
  );
  assert.match(conditionText(unreachable, 'Ready'), /^False WaitingForReset: .*last seen: ConnectionFailed/);
  assert.deepEqual(node.bmc.shell.commands, ['racreset']);
  assert.equal(node.bmc.shell.logins, 1);
  assert.equal(unreachable.status?.lastResetTime, unreachable.status?.reset?.sentAt);
  assert.equal(unreachable.status?.sshHostKeyFingerprint, node.bmc.shell.hostKeyFingerprint);
  const { note } = await testenv.hasEvent(unreachable, 'SSHHostKeyTrusted');
  assert.ok(note.includes(node.bmc.shell.hostKeyFingerprint), 'a person can compare the key');

  await node.bmc.heal();
  await reasonIs(testenv.bmc(node), 'Reset', 'False ResetComplete');
  await testenv.bmc(node).reaches('Enabled');
  assert.ok(testenv.bmc(node).now?.status?.lastResetTime, 'the time of the reset is kept');
  assert.deepEqual(node.bmc.shell.commands, ['racreset'], 'exactly one');
});

test('a failed SSH reset is reported with its error', async () => {
  await using testenv = await startTestenv({ flags: quickReset, fleet: { shells: true } });
  const [node] = await testenv.addNodes({ lenovo: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.bmc(node).reaches('Enabled');
  node.bmc.shell.exitCode = 9;
  await annotate(testenv, node.name, 'force-ssh-reset-bmc');
  const failed = await reasonIs(testenv.bmc(node), 'Reset', 'False InternalServerError: SSH reset failed: ');
  assert.match(conditionText(failed, 'Reset'), /exit code 9: resetsp: failed/);
  assert.equal(operationOf(failed), undefined);
  await testenv.bmc(node).reaches('Enabled');
  assert.deepEqual(node.bmc.shell.commands, ['resetsp'], 'the reset is not repeated');
});

test('an SSH server with a changed host key receives no command', async () => {
  await using testenv = await startTestenv({ flags: quickReset, fleet: { shells: true } });
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.bmc(node).reaches('Enabled');
  await testenv.bmcs.patch(node.name, { spec: { ssh: { hostKeyFingerprint: `SHA256:${'A'.repeat(43)}` } } });
  await annotate(testenv, node.name, 'force-ssh-reset-bmc');
  await reasonIs(testenv.bmc(node), 'Reset', 'False HostKeyMismatch: SSH reset failed: ');
  assert.equal(node.bmc.shell.logins, 0);
});

test('a BMC that keeps failing is reset automatically, and again after a growing delay', async () => {
  await using testenv = await startTestenv({
    flags: [...quickReset, '--bmc-resync-interval=10s', '--bmc-failure-reset-delay=20s'],
    fleet: { shells: true },
  });
  const [node] = await testenv.addNodes({ hpe: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.bmc(node).reaches('Enabled');
  node.bmc.answer(500);
  const resetting = await testenv.bmc(node).hasCondition('Reset', 'True');
  assert.equal(
    conditionText(resetting, 'Reset'),
    'True AutoResetting: BMC reset initiated automatically after repeated connection failures. Waiting for it to come back online.',
  );
  await testenv.bmc(node).until('was reset again', ({ status }) => (status?.reset?.attempts ?? 0) >= 3);
  assert.ok(node.bmc.shell.commands.length >= 1 && node.bmc.shell.commands.length <= 2);
  await node.bmc.heal();
  await reasonIs(testenv.bmc(node), 'Reset', 'False ResetComplete');
});

test('rejected credentials never cause a reset', async () => {
  await using testenv = await startTestenv({
    flags: [...quickReset, '--bmc-failure-reset-delay=10s'],
    fleet: { shells: true },
    speed: 50,
  });
  const node = await testenv.fleet.add({ vendor: 'dell', password: 'another-one' });
  await testenv.plugIn(node);
  await testenv.bmc(node).hasReason('AuthenticationFailed');
  await testenv.clock.sleep(minutes(2));
  assert.deepEqual([node.bmc.resets, node.bmc.shell.commands], [[], []]);
  assert.equal(testenv.bmc(node).condition('Reset'), undefined);
});

const withEvents = ['--event-url=http://127.0.0.1', '--event-port=0', '--bmc-resync-interval=5s'];
const eventUrlOf = ({ system }: Testenv): string => system.eventUrl ?? '';
const linksOf = ({ status }: BMC): (string | undefined)[] => [
  status?.eventsSubscriptionLink,
  status?.metricsReportSubscriptionLink,
];
const isSubscribed = (bmc: BMC): boolean => linksOf(bmc).every((link) => link !== undefined);

for (const vendor of ['dell', 'hpe', 'gigabyte'] as const) {
  test(`a BMC (${vendor}) gets subscriptions for alerts and metric reports, each with its own destination`, async () => {
    await using testenv = await startTestenv({ flags: withEvents });
    const [node] = await testenv.addNodes({ [vendor]: 1 });
    assert.ok(node);
    await testenv.plugIn(node);
    const bmc = await testenv.bmc(node).until('is subscribed', isSubscribed);
    await testenv.bmc(node).hasCondition('EventsSubscribed', 'True');
    const wanted = [...node.bmc.subscriptions].map(([id, { Destination, EventFormatType, Context }]) => {
      const destination = String(Destination).replace(/\/[\w-]{32}\//, '/TOKEN/');
      return `${id} ${destination} ${String(EventFormatType)} ${String(Context)}`;
    });
    assert.deepEqual(wanted, [
      `1 ${eventUrlOf(testenv)}/serverevents/alerts/TOKEN/${node.name} Event metal-operator`,
      `2 ${eventUrlOf(testenv)}/serverevents/metricsreport/TOKEN/${node.name} MetricReport metal-operator`,
    ]);
    assert.deepEqual(
      linksOf(bmc).map((link) => link?.replace(/.*\/EventService/, '')),
      ['/Subscriptions/1', '/Subscriptions/2'],
    );
  });
}

test('a BMC that lost its subscriptions in a factory reset is subscribed again', async () => {
  await using testenv = await startTestenv({ flags: withEvents });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.bmc(node).until('is subscribed', isSubscribed);
  node.bmc.factoryReset();
  await testenv.bmc(node).until('is subscribed again', (bmc) => linksOf(bmc)[1]?.endsWith('/4') === true);
  assert.equal(node.bmc.subscriptions.size, 2);
});

test('a BMC with a disabled event service reports it, and its server is discovered nevertheless', async () => {
  await using testenv = await startTestenv({ flags: withEvents });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.bmc.set({ eventsDisabled: true });
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  await reasonIs(testenv.bmc(node), 'EventsSubscribed', 'False EventServiceDisabled');
  assert.match(conditionText(await testenv.bmc(node).exists(), 'Ready'), /^True Connected/);
  await node.bmc.heal();
  await testenv.bmc(node).hasCondition('EventsSubscribed', 'True');
});

test('deleting a BMC object deletes its subscriptions', async () => {
  await using testenv = await startTestenv({ flags: withEvents });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.bmc(node).until('is subscribed', isSubscribed);
  await testenv.client.delete(Endpoint, { name: node.name });
  await testenv.client.delete(BMC, { name: node.name });
  await testenv.bmc(node).isGone();
  assert.equal(node.bmc.subscriptions.size, 0);
});

test('deleting a BMC object completes without the BMC, and reports the remaining subscriptions', async () => {
  await using testenv = await startTestenv({ flags: withEvents });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.bmc(node).until('is subscribed', isSubscribed);
  await node.bmc.refuse();
  await testenv.client.delete(Endpoint, { name: node.name });
  await testenv.client.delete(BMC, { name: node.name });
  await testenv.bmc(node).isGone();
  const left = await testenv.hasEvent(node.name, 'SubscriptionsLeftBehind');
  assert.equal(left.regarding.kind, 'BMC');
  assert.match(left.note, /Subscriptions\/1 and .*Subscriptions\/2/);
});

test('event destinations without a token are those of v0.7.0', async () => {
  await using testenv = await startTestenv({ flags: [...withEvents, '--event-auth=none'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.bmc(node).until('is subscribed', isSubscribed);
  assert.deepEqual(
    [...node.bmc.subscriptions.values()].map(({ Destination }) => Destination),
    [
      `${eventUrlOf(testenv)}/serverevents/alerts/${node.name}`,
      `${eventUrlOf(testenv)}/serverevents/metricsreport/${node.name}`,
    ],
  );
});

async function withTemplate(text: string): Promise<AsyncDisposable & { readonly flag: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'metal-dns-'));
  const path = join(directory, 'dns.yaml');
  await writeFile(path, text);
  return {
    flag: `--dns-record-template-path=${path}`,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

const recordTemplate = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Name }}-dns
data:
  ip: "{{ .IP }}"
  hostname: {{ .Hostname | default .Name | quote }}
`;

/** The site grants the operator access to the kind of its DNS records. */
async function allowConfigMaps({ client }: Testenv): Promise<void> {
  const path = '/apis/rbac.authorization.k8s.io/v1';
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name: 'site-dns-records' };
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'patch'] }];
  const role = { apiVersion, kind: 'ClusterRole', metadata, rules };
  await client.raw({ method: 'POST', path: `${path}/clusterroles`, body: role });
  const apiGroup = 'rbac.authorization.k8s.io';
  const roleRef = { apiGroup, kind: 'ClusterRole', name: metadata.name };
  const subjects = [{ apiGroup, kind: 'User', name: 'metal-operator' }];
  const binding = { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects };
  await client.raw({ method: 'POST', path: `${path}/clusterrolebindings`, body: binding });
}

test('a BMC gets the DNS record of the template once a role allows it, owned by the BMC and updated with it', async () => {
  await using template = await withTemplate(recordTemplate);
  await using testenv = await startTestenv({ flags: [template.flag] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await reasonIs(testenv.bmc(node), 'DNSRecordApplied', 'False RecordRefused');
  await allowConfigMaps(testenv);
  await testenv.bmc(node).hasCondition('DNSRecordApplied', 'True');
  const place = { namespace: 'default', name: `${node.name}-dns` };
  const record = await testenv.client.get(ConfigMap, place);
  assert.deepEqual(record.data, { ip: node.bmc.address, hostname: node.name });
  const [owner] = record.metadata.ownerReferences ?? [];
  assert.deepEqual([owner?.kind, owner?.name, owner?.controller], ['BMC', node.name, true]);

  await testenv.bmcs.patch(node.name, { spec: { hostname: 'bmc.test' } });
  const follow = new CacheSet({ client: testenv.client, clock: testenv.clock, log: pino({ level: 'silent' }) });
  const records = follow.watch(ConfigMap);
  await follow.start(new AbortController().signal);
  const followed = () => records.get(`default/${node.name}-dns`)?.data?.hostname === 'bmc.test';
  await untilChanged('the record', 'follows the BMC', followed, (check) => records.onChange(check), testenv.timeline);
  await follow.stop();
  await testenv.client.delete(ConfigMap, place);
});

test('a DNS record that cannot be rendered is reported, and the server is discovered nevertheless', async () => {
  await using template = await withTemplate(recordTemplate.replace('.Hostname', '.Nonsense'));
  await using testenv = await startTestenv({ flags: [template.flag] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  await reasonIs(testenv.bmc(node), 'DNSRecordApplied', 'False TemplateFailed: DNS record template, line 7: ');
  assert.match(conditionText(await testenv.bmc(node).exists(), 'Ready'), /^True Connected/);
});

test('a DNS record of a kind that is not installed is retried', async () => {
  await using template = await withTemplate(recordTemplate.replace('v1', 'dns.ironcore.dev/v1alpha1'));
  await using testenv = await startTestenv({ flags: [template.flag] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await reasonIs(testenv.bmc(node), 'DNSRecordApplied', 'False RecordRefused');
});

test('an invalid DNS template keeps the operator from starting', async () => {
  await using template = await withTemplate('a: b\n{{ define "x" }}\n');
  await using testenv = await startTestenv({ flags: [template.flag], operator: 'none' });
  await assert.rejects(testenv.startOperator(), {
    code: 'InvalidConfiguration',
    message: /--dns-record-template-path: .*, line 2: \{\{ define "x" \}\}: "define" is not supported/,
  });
});

test('a BMC becomes a Server with its identity, its labels and its owner', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ lenovo: 1 });
  assert.ok(node);
  await testenv.client.create(BMCSecret, {
    metadata: { name: 'inline' },
    stringData: { username: node.bmc.username, password: node.bmc.password },
  });
  await testenv.client.create(BMC, {
    metadata: { name: 'inline', labels: { rack: 'r1', row: '7' } },
    spec: {
      access: { ip: node.bmc.address, macAddress: node.bmc.macAddress.replaceAll(':', '') },
      bmcSecretRef: { name: 'inline' },
      protocol: { name: 'Redfish', port: node.bmc.port, scheme: 'http' },
    },
  });
  const server = await testenv.server(node).exists();
  assert.equal(server.metadata.name, 'inline-system-0');
  assert.equal(server.spec.systemUUID, node.uuid.toLowerCase());
  assert.equal(server.spec.systemURI, `/redfish/v1/Systems/${node.machine.systemId}`);
  assert.equal(server.spec.bmcRef?.name, 'inline');
  assert.deepEqual(server.metadata.labels, { rack: 'r1', row: '7' });
  const [owner] = server.metadata.ownerReferences ?? [];
  assert.deepEqual([owner?.kind, owner?.name, owner?.controller], ['BMC', 'inline', true]);
  const bmc = await testenv.bmcs.named('inline').reaches('Enabled');
  assert.partialDeepStrictEqual(bmc.status, {
    ip: node.bmc.address,
    macAddress: node.bmc.macAddress,
    manufacturer: 'Lenovo',
    powerState: 'On',
  });

  await testenv.servers.patch('inline-system-0', { metadata: { labels: { mine: 'stays' } } });
  await testenv.bmcs.patch('inline', { metadata: { labels: { rack: 'r2', row: null, new: 'x' } } });
  const follows = ({ metadata: { labels = {} } }: Server) => labels.rack === 'r2' && labels.new === 'x';
  const labelled = await testenv.server(node).until('has the labels of its BMC', follows);
  assert.deepEqual(
    labelled.metadata.labels,
    { rack: 'r2', new: 'x', mine: 'stays' },
    'a removed label is removed from the Server',
  );
});

test('an Endpoint becomes a BMCSecret and a BMC that it owns, with the console of the MAC prefix database', async () => {
  await using testenv = await startTestenv({ fleet: { shells: true } });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const bmc = await testenv.bmc(node).until('knows its manager', ({ spec }) => spec?.bmcUUID !== undefined);
  const secret = await testenv.client.get(BMCSecret, { name: node.name });
  const endpoint = await testenv.endpoint(node).exists();
  for (const { metadata } of [bmc, secret]) {
    const [owner] = metadata.ownerReferences ?? [];
    assert.deepEqual([owner?.uid, owner?.controller], [endpoint.metadata.uid, true]);
  }
  const textOf = (key: string) => Buffer.from(secret.data?.[key] ?? '', 'base64').toString();
  assert.deepEqual([textOf('username'), textOf('password')], [node.bmc.username, node.bmc.password]);
  assert.deepEqual(bmc.spec?.consoleProtocol, { name: 'SSH', port: node.bmc.shell.port });
  assert.equal(bmc.spec?.bmcUUID, node.bmc.managerUuid);
});

test('a machine without UUID gets a derived one, which its Server records', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.bmc.set({ uuid: null });
  await testenv.plugIn(node);
  const derivedFrom = 'metal.ironcore.dev/identity-derived-from';
  const name = `${node.name}-system-0`;
  const watched = testenv.servers.named(name);
  const server = await watched.exists();
  assert.match(server.spec.systemUUID, /^[0-9a-f]{8}-[0-9a-f]{4}-5/);
  assert.equal(server.metadata.annotations?.[derivedFrom], 'manufacturer and serial number');
  await watched.until('is observed', ({ status }) => status?.manufacturer === 'Contoso');
});

/** The MAC prefix database of the fleet, with wrong credentials before the correct ones. */
const withWrongFirst =
  (...passwords: string[]) =>
  (fleet: Fleet): string => {
    const wrong = passwords.map((password) => `      - username: "root"\n        password: "${password}"\n`).join('');
    return fleet
      .macPrefixFile()
      .replaceAll('    defaultCredentials:\n', `    defaultCredentials:\n${wrong}`)
      .replaceAll('type: SSH', 'type: ssh');
  };

test('default credentials are tried in order, and the first working pair becomes the BMCSecret', async () => {
  await using testenv = await startTestenv({
    macPrefixes: withWrongFirst('calvin', 'ADMIN'),
    speed: 300,
    flags: ['--bmc-call-timeout=30m'],
  });
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  // The second delay is a quarter of an hour. The first one, ten seconds, is too short at this speed to be observed on
  // a busy machine.
  await testenv
    .endpoint(node)
    .until('was rejected twice', (endpoint) =>
      /TryingDefaultCredentials.*rejected 2 of 3 default credentials/.test(conditionText(endpoint, 'Ready')),
    );
  const bmc = await testenv.bmc(node).reaches('Enabled');
  assert.equal(bmc.spec?.consoleProtocol?.name, 'SSH', 'the console type is not case-sensitive');
  const { data } = await testenv.client.get(BMCSecret, { name: node.name });
  assert.equal(Buffer.from(data?.password ?? '', 'base64').toString(), node.bmc.password);
  const endpoint = await testenv.endpoint(node).hasReason('BMCCreated');
  assert.equal(endpoint.status?.rejectedDefaultCredentials, undefined);
  assert.equal(node.bmc.access.failedLogins, 2);
  assert.equal(node.bmc.access.isLocked, false);
});

test('an Endpoint with only rejected default credentials waits for an administrator, and the account is not locked', async () => {
  await using testenv = await startTestenv({
    macPrefixes: withWrongFirst('calvin'),
    speed: 200,
    flags: ['--bmc-call-timeout=30m'],
  });
  const node = await testenv.fleet.add({ vendor: 'hpe', password: 'another-one' });
  await testenv.plugIn(node);
  await testenv.endpoint(node).hasReason('DefaultCredentialsRejected');
  assert.equal(testenv.bmc(node).now, undefined);
  await testenv.clock.sleep(minutes(2));
  assert.equal(node.bmc.access.failedLogins, 2);

  const { username, password } = node.bmc;
  await testenv.client.create(BMCSecret, { metadata: { name: node.name }, stringData: { username, password } });
  await testenv.bmc(node).reaches('Enabled');
});

test('events to the subscription of a BMC are accepted, and those from another BMC are rejected', async () => {
  await using testenv = await startTestenv({ flags: withEvents });
  const [node, other] = await testenv.addNodes({ generic: 2 });
  assert.ok(node && other);
  await testenv.plugIn(node, other);
  await testenv.bmc(node).until('is subscribed', isSubscribed);
  await testenv.bmc(other).until('is subscribed', isSubscribed);
  const event = { severity: 'Warning', messageId: 'Fan.1.0.Slow', message: 'a fan is slow' } as const;
  assert.deepEqual(await node.bmc.sendEvent(event), [200, 200]);
  const [[, stolen] = []] = [...other.bmc.subscriptions];
  node.bmc.addSubscription({ ...stolen, Destination: String(stolen?.Destination).replace(other.name, node.name) });
  assert.notEqual((await node.bmc.sendEvent(event)).at(-1), 200, 'the token of one BMC is not valid for another');
});
