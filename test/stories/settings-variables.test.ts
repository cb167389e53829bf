import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kinds } from '@metal/api/kinds.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { ConfigMap, Event, Secret } from '@metal/kube/kinds/builtin.ts';
import type { BMCSettings } from '@metal/api/v1alpha1/bmc-settings.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { createBmcSettings } from '../fixtures/settings-fixture.ts';
import { freeMachine } from '../fixtures/update-fixture.ts';

const startTestenv = testenvsOfFile();
const retry = { metadata: { annotations: { 'metal.ironcore.dev/operation': 'retry' } } };

/** Roles with which the account reads Secrets of other namespaces for other purposes. */
const otherReaders = ['metal-operator-ignition-reader', 'metal-operator-user-data-reader'];

type Variable = NonNullable<BMCSettings['spec']['variables']>[number];
const fromSecret = (key: string, name: string, namespace = 'default'): Variable => ({
  key,
  valueFrom: { secretKeyRef: { name, namespace, key: 'value' } },
});

test('variables come from fields, other objects, ConfigMaps and Secrets, and a selector may use earlier ones', async () => {
  await using testenv = await startTestenv();
  const { node } = await freeMachine(testenv);
  await testenv.bmcs.patch(node.name, { metadata: { labels: { 'topology.test/row': 'r3' } } });
  await createMap(testenv, 'r3-settings', { ntp: '10.0.0.1' });
  await createSecret(testenv, 'word', 'pa$$w$(ROW)ord');
  await createBmcSettings(
    testenv,
    {
      node,
      variables: [
        { key: 'BMC', valueFrom: { fieldRef: { fieldPath: 'spec.BMCRef.name' } } },
        {
          key: 'ROW',
          valueFrom: {
            objectFieldRef: { kind: 'BMC', name: '$(BMC)', fieldPath: 'metadata.labels[topology.test/row]' },
          },
        },
        { key: 'NTP', valueFrom: { configMapKeyRef: { name: '$(ROW)-settings', namespace: 'default', key: 'ntp' } } },
        fromSecret('WORD', 'word'),
      ],
    },
    { NtpServer1: '$(NTP)', composite: '$(ROW)-$$(ROW)-$(OTHER)', abc: '$(WORD)' },
  );
  await testenv.updates.bmcSettings.named('tuned').reaches('Applied');
  const { current } = node.bmc.settings.stateOf('', node.bmc.profile.managerAttributes[''] ?? assert.fail());
  assert.equal(current.NtpServer1, '10.0.0.1');
  assert.equal(current.composite, 'r3-$(ROW)-$(OTHER)');
  assert.equal(current.abc, 'pa$$w$(ROW)ord', 'a password is inserted as it is');
});

test('a changed Secret is applied within minutes, and is no drift', async () => {
  await using testenv = await startTestenv({ speed: 100 });
  const { node } = await freeMachine(testenv);
  await createSecret(testenv, 'word', 'first');
  await createBmcSettings(testenv, { node, variables: [fromSecret('WORD', 'word')] }, { abc: '$(WORD)' });
  const tuned = testenv.updates.bmcSettings.named('tuned');
  const applied = await tuned.reaches('Applied');
  await testenv.server(node).hasReason('Available');

  const changedAt = testenv.clock.now();
  const data = { value: Buffer.from('second').toString('base64') };
  await testenv.client.mergePatch(Secret, { namespace: 'default', name: 'word' }, { data });
  await tuned.reaches('InProgress');
  await testenv.hasEvent(applied, 'SpecChanged');
  // Later than five minutes only because this process stalls; without the reading it is an hour.
  assert.ok(testenv.clock.now() - changedAt < minutes(40));
  await tuned.reaches('Applied');
  const { current } = node.bmc.settings.stateOf('', node.bmc.profile.managerAttributes[''] ?? assert.fail());
  assert.equal(current.abc, 'second');
});

test('a value is escaped where it stands in the JSON of a resource', async () => {
  await using testenv = await startTestenv();
  const { node } = await freeMachine(testenv, 'hpe');
  const path = '/redfish/v1/Managers/1/SnmpService';
  await createSecret(testenv, 'contact', 'a"b\\c", "AlertsEnabled": false, "Role": "x');
  await createBmcSettings(
    testenv,
    { node, variables: [fromSecret('CONTACT', 'contact')] },
    { [`PATCH ${path}`]: '{"Contact": "$(CONTACT)"}' },
  );
  await testenv.updates.bmcSettings.named('tuned').reaches('Applied');
  const { Contact, AlertsEnabled } = node.bmc.settings.resourceAt(path) ?? {};
  assert.deepEqual([Contact, AlertsEnabled], ['a"b\\c", "AlertsEnabled": false, "Role": "x', true]);
});

test('a member of a collection is created once', async () => {
  await using testenv = await startTestenv();
  const { node } = await freeMachine(testenv, 'hpe');
  const path = '/redfish/v1/Managers/1/SnmpService/SNMPUsers';
  await createSecret(testenv, 'word', 'quite-secret');
  await createBmcSettings(
    testenv,
    { node, variables: [fromSecret('WORD', 'word')] },
    { [`POST ${path}`]: '{"SecurityName": "watcher", "AuthPassphrase": "$(WORD)"}' },
  );
  await testenv.updates.bmcSettings.named('tuned').reaches('Applied');
  assert.equal(node.bmc.settings.membersOf(path).length, 1);
});

test('what a variable lacks is said, and nothing is sent; a role for the namespace of a Secret lets it go on', async () => {
  await using testenv = await startTestenv({ withoutRoles: otherReaders });
  const { node } = await freeMachine(testenv);
  const tuned = testenv.updates.bmcSettings.named('tuned');
  await createBmcSettings(testenv, { node, variables: [fromSecret('WORD', 'word')] }, { abc: '$(WORD)' });
  await tuned.hasMessage(/variable WORD: Secret default\/word does not exist/);
  await testenv.updates.bmcSettings.patch('tuned', {
    spec: { variables: [fromSecret('WORD', 'word', 'kube-system')] },
  });
  await tuned.hasMessage(/the operator may not read Secret kube-system\/word; bind ClusterRole metal-operator-update-/);
  assert.equal(tuned.now?.status?.state, 'Pending');
  assert.equal(testenv.maintenances.size, 0);
  await createSecret(testenv, 'word', 'quite-secret', 'kube-system');
  await bindReader(testenv, 'kube-system');
  await testenv.updates.bmcSettings.patch('tuned', retry);
  await tuned.reaches('Applied');
});

const secret = 'se"cr\\et$$-$(X)-7b1f';

test('a value from a Secret is in no object, event, log line or error', async () => {
  await using testenv = await startTestenv({ speed: 1, operator: 'process', flags: ['--zap-log-level=debug'] });
  const lines: string[] = [];
  const seen: string[] = [];
  await using _operator = await testenv.startOperatorProcess([], (line) => lines.push(line));
  const { node } = await freeMachine(testenv);
  const note = ({ after }: { readonly after?: object | undefined }) => void seen.push(JSON.stringify(after ?? {}));
  testenv.updates.bmcSettings.onChange(note);
  testenv.events.onChange(note);
  testenv.maintenances.onChange(note);
  testenv.servers.onChange(note);
  testenv.bmcs.onChange(note);
  await createSecret(testenv, 'word', secret);
  const variables = [fromSecret('WORD', 'word')];
  const settings = testenv.updates.bmcSettings;
  // Too long for its attribute; of another type; rejected by the BMC; applied.
  await createBmcSettings(testenv, { node, name: 'long', variables }, { abc: '$(WORD)$(WORD)$(WORD)' });
  await settings.named('long').hasReason('SettingsValidationFailed');
  await settings.patch('long', { spec: { settings: { abc: null, fooreboot: '$(WORD)' } } });
  await settings.named('long').hasMessage(/fooreboot expected a whole number, found another value/);
  node.bmc.rejectAttribute('abc');
  await settings.patch('long', { spec: { settings: { fooreboot: null, abc: '$(WORD)' }, dryRun: true } });
  const planned = await settings.named('long').hasReason('DryRun');
  assert.deepEqual(planned.status?.plan?.changes, [{ name: 'abc', to: '(secret)' }]);
  await settings.patch('long', { spec: { dryRun: null } });
  await settings.named('long').hasReason('SettingsRejected');
  await node.bmc.heal();
  await settings.patch('long', retry);
  await settings.named('long').reaches('Applied');
  for (const kind of [...kinds, Event]) seen.push(JSON.stringify((await testenv.client.list(kind)).items));
  const all = [...seen, ...lines].join('\n');
  for (const form of [secret, JSON.stringify(secret).slice(1, -1), Buffer.from(secret).toString('base64')])
    assert.equal(all.includes(form), false, `"${form}" was found`);
  assert.match(all, /SettingsRejected/, 'the search has something to find');
});

const createSecret = (testenv: Testenv, name: string, value: string, namespace = 'default') =>
  testenv.client.create(Secret, {
    metadata: { name, namespace },
    data: { value: Buffer.from(value).toString('base64') },
  });

const createMap = (testenv: Testenv, name: string, data: Record<string, string>) =>
  testenv.client.create(ConfigMap, { metadata: { name, namespace: 'default' }, data });

/** Binds the role of the manual to the operator of the test environment. */
async function bindReader(testenv: Testenv, namespace: string): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  await testenv.client.raw({
    method: 'POST',
    path: `/apis/${group}/v1/namespaces/${namespace}/rolebindings`,
    body: {
      apiVersion: `${group}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'update-reader', namespace },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'metal-operator-update-reader' },
      subjects: [{ apiGroup: group, kind: 'User', name: ['metal-operator', ...otherReaders].join('-without-') }],
    },
  });
}
