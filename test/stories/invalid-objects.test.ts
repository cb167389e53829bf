import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { Kind } from '@metal/kube/kinds/kind.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();

/** An object of the API's JSON, as a user might write it. */
interface InvalidObject {
  readonly title: string;
  readonly kind: Kind;
  readonly name?: string;
  readonly metadata?: object;
  readonly body: object;
}
const redfish = { name: 'Redfish', port: 443 };
const bmcWith = (spec: object) => ({
  spec: { access: { ip: '192.0.2.1' }, bmcSecretRef: { name: 'good' }, protocol: redfish, ...spec },
});
const inlineServer = (bmc: object, systemUUID = '00000000-0000-0000-0000-000000000001') => ({
  spec: { systemUUID, bmc: { address: '127.0.0.1', protocol: redfish, bmcSecretRef: { name: 'good' }, ...bmc } },
});
const claimWith = (spec: object) => ({ spec: { power: 'On', image: 'registry.test/os:1', ...spec } });
const ruleWith = (spec: object) => ({
  spec: {
    conditions: [{ type: 'BurnIn', requiredStatus: 'True' }],
    enforcementMode: 'Continuous',
    taint: { key: 'k', effect: 'NoBind' },
    serverSelector: { matchLabels: { unmatched: 'label' } },
    ...spec,
  },
});
const longText = 'x'.repeat(300);

const rejectedAtWrite: (InvalidObject & { readonly messagePattern: RegExp })[] = [
  {
    title: 'an invalid IP address',
    kind: Endpoint,
    body: { spec: { ip: 'bmc.example' } },
    messagePattern: /expected an IPv4 or IPv6 address such as 192\.0\.2\.10/,
  },
  {
    title: 'an invalid MAC address',
    kind: Endpoint,
    body: { spec: { macAddress: '🦊' } },
    messagePattern: /expected a MAC address such as aa:bb:cc:dd:ee:ff/,
  },
  {
    title: 'the power state on',
    kind: ServerClaim,
    body: claimWith({ power: 'on' }),
    messagePattern: /supported values: "On", "Off"/,
  },
  {
    title: 'a toleration without key',
    kind: ServerClaim,
    body: claimWith({ tolerations: [{ operator: 'Exists' }] }),
    messagePattern: /spec\.tolerations\[0\]\.key: Required value/,
  },
  {
    title: 'a toleration with an empty key',
    kind: ServerClaim,
    body: claimWith({ tolerations: [{ key: '' }] }),
    messagePattern: /spec\.tolerations\[0\]\.key.*at least 1 chars/,
  },
  {
    title: 'a name of 300 characters',
    kind: Server,
    name: longText,
    body: inlineServer({}),
    messagePattern: /must be no more than 253/,
  },
  {
    title: 'a Unicode name',
    kind: BMC,
    name: 'rück-1',
    body: bmcWith({}),
    messagePattern: /a lowercase RFC 1123 subdomain/,
  },
  {
    title: 'a label value of 300 characters',
    kind: Server,
    metadata: { labels: { rack: longText } },
    body: inlineServer({}),
    messagePattern: /must be no more than 63/,
  },
  {
    title: 'annotations above the size limit',
    kind: Server,
    metadata: { annotations: { note: 'x'.repeat(300_000) } },
    body: inlineServer({}),
    messagePattern: /metadata\.annotations: Too long/,
  },
  {
    title: 'an unknown scheme',
    kind: BMC,
    body: bmcWith({ protocol: { ...redfish, scheme: 'gopher' } }),
    messagePattern: /supported values: "http", "https"/,
  },
  {
    title: 'a taint without key',
    kind: Server,
    body: { spec: { systemUUID: 'u', taints: [{ effect: 'Evict' }] } },
    messagePattern: /taints\[0\]\.key: Required/,
  },
];

const acceptedAtWrite: (InvalidObject & { readonly reason: string; readonly messagePattern: RegExp })[] = [
  {
    title: 'an unknown protocol',
    kind: BMC,
    body: bmcWith({ protocol: { name: 'IPMI', port: 623 } }),
    reason: 'UnsupportedProtocol',
    messagePattern: /"IPMI" is not supported; expected one of Redfish/,
  },
  {
    title: 'an invalid port',
    kind: BMC,
    body: bmcWith({ protocol: { name: 'Redfish', port: 70_000 } }),
    reason: 'AddressInvalid',
    messagePattern: /port 70000/,
  },
  {
    title: 'a negative port',
    kind: BMC,
    body: bmcWith({ protocol: { name: 'Redfish', port: -1 } }),
    reason: 'AddressInvalid',
    messagePattern: /port -1/,
  },
  {
    title: 'no address',
    kind: BMC,
    body: bmcWith({ access: {} }),
    reason: 'AddressMissing',
    messagePattern: /set one/,
  },
  {
    title: 'a secret that does not exist',
    kind: BMC,
    body: bmcWith({ bmcSecretRef: { name: 'nowhere' } }),
    reason: 'BMCSecretNotFound',
    messagePattern: /"nowhere" does not exist; create it/,
  },
  {
    title: 'a secret without password',
    kind: BMC,
    body: bmcWith({ bmcSecretRef: { name: 'half' } }),
    reason: 'BMCSecretIncomplete',
    messagePattern: /lacks key password/,
  },
  {
    title: 'an endpoint that does not exist',
    kind: BMC,
    body: bmcWith({ access: undefined, endpointRef: { name: '../../x' } }),
    reason: 'EndpointNotFound',
    messagePattern: /does not exist/,
  },
  {
    title: 'an invalid CA bundle',
    kind: BMC,
    body: bmcWith({
      protocol: { ...redfish, scheme: 'https', tls: { caBundle: 'no certificate' } },
      access: { ip: '127.0.0.1' },
    }),
    reason: 'CertificateInvalid',
    messagePattern: /caBundle/,
  },
  {
    title: 'an inline BMC with an invalid address',
    kind: Server,
    body: inlineServer({ address: 'not a host/☃?' }),
    reason: 'BMCNotUsable',
    messagePattern: /"not a host\/☃\?"/,
  },
  {
    title: 'an inline BMC with an unknown protocol',
    kind: Server,
    body: inlineServer({ protocol: { name: 'ipmi', port: 1 } }, '00000000-0000-0000-0000-000000000002'),
    reason: 'BMCNotUsable',
    messagePattern: /"ipmi" is not supported/,
  },
  {
    title: 'a BMC that does not exist',
    kind: Server,
    body: { spec: { systemUUID: '☃', bmcRef: { name: 'nowhere' } } },
    reason: 'BMCNotFound',
    messagePattern: /"nowhere"/,
  },
  {
    title: 'no BMC at all',
    kind: Server,
    body: { spec: { systemUUID: longText } },
    reason: 'BMCNotUsable',
    messagePattern: /set one of them/,
  },
  {
    title: 'huge annotations',
    kind: Server,
    metadata: { annotations: { note: 'ü'.repeat(100_000) } },
    body: { spec: { systemUUID: 'u' } },
    reason: 'BMCNotUsable',
    messagePattern: /set one of them/,
  },
  {
    title: 'an unknown operator in the selector',
    kind: ServerClaim,
    body: claimWith({ serverSelector: { matchExpressions: [{ key: 'rack', operator: 'Like', values: ['a'] }] } }),
    reason: 'NoServerMatches',
    messagePattern:
      /selects nothing \(matchExpressions: "Like" is no operator; expected In, NotIn, Exists or DoesNotExist\)/,
  },
  {
    title: 'an invalid label value in the selector',
    kind: ServerClaim,
    body: claimWith({ serverSelector: { matchLabels: { rack: longText } } }),
    reason: 'NoServerMatches',
    messagePattern: /is no label value/,
  },
  {
    title: 'a server that does not exist',
    kind: ServerClaim,
    body: claimWith({ serverRef: { name: '../servers' } }),
    reason: 'NoServerMatches',
    messagePattern: /server "\.\.\/servers" of spec\.serverRef does not exist/,
  },
  {
    title: 'an invalid selector',
    kind: ServerReadinessRule,
    body: ruleWith({ serverSelector: { matchExpressions: [{ key: 'ü', operator: 'Exists' }] } }),
    reason: 'InvalidSelector',
    messagePattern: /"ü" is no label key/,
  },
  {
    title: 'a name of 253 characters',
    kind: ServerReadinessRule,
    name: `${'x'.repeat(60)}.`.repeat(5).slice(0, 253).replace(/\.$/, 'x'),
    body: ruleWith({}),
    reason: 'NoServerSelected',
    messagePattern: /no server matches/,
  },
  {
    title: 'a MAC address without a matching prefix',
    kind: Endpoint,
    body: { spec: { macAddress: '0000.0000.0001', ip: '::1' } },
    reason: 'UnknownMACPrefix',
    messagePattern: /0000\.0000\.0001 matches none/,
  },
  { title: 'no spec', kind: Endpoint, body: {}, reason: 'MACAddressMissing', messagePattern: /create a BMC object/ },
];

const create = (testenv: Testenv, { kind, metadata, body }: InvalidObject, name: string) =>
  testenv.client.raw({
    method: 'POST',
    path: `/apis/${kind.apiVersion}${kind.scope === 'Namespaced' ? '/namespaces/default' : ''}/${kind.plural}`,
    body: { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name, ...metadata }, ...body },
  });

test('invalid objects are rejected or reported, and a valid server becomes Available among them', async () => {
  await using testenv = await startTestenv({
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 200 },
  });
  const operator = await testenv.startOperatorProcess();
  await testenv.client.create(BMCSecret, { metadata: { name: 'good' }, stringData: { username: 'u', password: 'p' } });
  await testenv.client.create(BMCSecret, { metadata: { name: 'half' }, stringData: { username: 'u' } });

  for (const invalid of rejectedAtWrite) {
    const rejection = await create(testenv, invalid, invalid.name ?? 'bad').then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.ok(
      rejection instanceof KubeError && rejection.status === 422,
      `${invalid.kind.kind} with ${invalid.title} is rejected`,
    );
    assert.match(rejection.message, invalid.messagePattern);
  }

  for (const [index, invalid] of acceptedAtWrite.entries())
    await create(testenv, invalid, invalid.name ?? `bad-${index}`);
  for (const [index, { kind, name = `bad-${index}`, reason, messagePattern, title }] of acceptedAtWrite.entries()) {
    const watched = testenv.object(kind, name);
    await watched.until(`${title}: has reason ${reason}`, () => watched.condition('Ready')?.reason === reason);
    assert.match(watched.condition('Ready')?.message ?? '', messagePattern, title);
  }

  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await claim.reaches('Bound');
  assert.deepEqual(
    operator.log.filter((line) => /unexpected error|did not come to rest|TypeError/.test(line)),
    [],
  );
});

/** The maximum length of a name. */
const longestName = `${'n'.repeat(49)}.`.repeat(6).slice(0, 253).replace(/\.$/, 'n');

test('a BMC whose server name would be too long reports it', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  const { macAddress, address: ip } = node.bmc;
  await testenv.client.create(Endpoint, { metadata: { name: longestName }, spec: { macAddress, ip } });
  const bmc = testenv.bmcs.named(longestName);
  await bmc.hasReason('Invalid');
  assert.match(bmc.condition('Ready')?.message ?? '', /-system-0": must be no more than 253 characters/);
});

test('a reference to a missing claim is dropped, and an unbootable image is reported', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const { metadata } = await testenv.server(node).hasReason('Available');
  for (const ref of [
    { namespace: '..', name: '..' },
    { namespace: 'default', name: '' },
    { namespace: '☃', name: 'a/b?c=d' },
  ]) {
    await testenv.servers.patch(metadata.name, { spec: { serverClaimRef: ref } });
    await testenv.server(node).until('has dropped it', ({ spec }) => spec.serverClaimRef === undefined);
  }
  await testenv.server(node).hasReason('Available');
  const odd = await testenv.claim({ name: longestName, image: '☃\n'.repeat(100) });
  await odd.reaches('Bound');
  await testenv.server(node).hasReason('BootConfigurationFailed');
  await odd.delete();
  await odd.isGone();
  await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
});

test('a server in maintenance is deleted only when its annotation allows it', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const { metadata } = await testenv.server(node).hasReason('Available');
  const swap = { namespace: 'default', name: 'swap' };
  await testenv.client.create(ServerMaintenance, {
    metadata: swap,
    spec: { policy: 'Enforced', serverRef: { name: metadata.name }, serverPower: 'Off' },
  });
  await testenv.server(node).reaches('Maintenance');
  await assert.rejects(
    testenv.client.delete(Server, metadata),
    new RegExp(`cannot delete Server ${metadata.name} in state Maintenance`),
  );
  const annotations = { 'metal.ironcore.dev/operation': 'allow-in-progress-delete' };
  await testenv.servers.patch(metadata.name, { metadata: { annotations } });
  await testenv.client.delete(BMC, { name: node.name });
  await testenv.client.delete(Server, metadata);
  await testenv.server(node).isGone();
});
