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
import type { Kind } from '@metal/kube/kind.ts';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';

const openLab = labsOfFile();

/** An object of the API's JSON, as somebody might write it. */
interface Bad {
  readonly what: string;
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
    serverSelector: { matchLabels: { nobody: 'has-this' } },
    ...spec,
  },
});
const longText = 'x'.repeat(300);

const refused: (Bad & { readonly says: RegExp })[] = [
  {
    what: 'an IP address that is none',
    kind: Endpoint,
    body: { spec: { ip: 'bmc.example' } },
    says: /expected an IPv4 or IPv6 address such as 192\.0\.2\.10/,
  },
  {
    what: 'a MAC address that is none',
    kind: Endpoint,
    body: { spec: { macAddress: '🦊' } },
    says: /expected a MAC address such as aa:bb:cc:dd:ee:ff/,
  },
  {
    what: 'the power state on',
    kind: ServerClaim,
    body: claimWith({ power: 'on' }),
    says: /supported values: "On", "Off"/,
  },
  {
    what: 'a toleration without key',
    kind: ServerClaim,
    body: claimWith({ tolerations: [{ operator: 'Exists' }] }),
    says: /spec\.tolerations\[0\]\.key: Required value/,
  },
  {
    what: 'a toleration with an empty key',
    kind: ServerClaim,
    body: claimWith({ tolerations: [{ key: '' }] }),
    says: /spec\.tolerations\[0\]\.key.*at least 1 chars/,
  },
  {
    what: 'a name of 300 characters',
    kind: Server,
    name: longText,
    body: inlineServer({}),
    says: /must be no more than 253/,
  },
  { what: 'a name in unicode', kind: BMC, name: 'rück-1', body: bmcWith({}), says: /a lowercase RFC 1123 subdomain/ },
  {
    what: 'a label value of 300 characters',
    kind: Server,
    metadata: { labels: { rack: longText } },
    body: inlineServer({}),
    says: /must be no more than 63/,
  },
  {
    what: 'annotations beyond what is stored',
    kind: Server,
    metadata: { annotations: { note: 'x'.repeat(300_000) } },
    body: inlineServer({}),
    says: /metadata\.annotations: Too long/,
  },
  {
    what: 'a scheme that nobody speaks',
    kind: BMC,
    body: bmcWith({ protocol: { ...redfish, scheme: 'gopher' } }),
    says: /supported values: "http", "https"/,
  },
  {
    what: 'a taint without key',
    kind: Server,
    body: { spec: { systemUUID: 'u', taints: [{ effect: 'Evict' }] } },
    says: /taints\[0\]\.key: Required/,
  },
];

const explained: (Bad & { readonly reason: string; readonly says: RegExp })[] = [
  {
    what: 'a protocol that nobody speaks',
    kind: BMC,
    body: bmcWith({ protocol: { name: 'IPMI', port: 623 } }),
    reason: 'UnsupportedProtocol',
    says: /"IPMI" is not supported; expected one of Redfish/,
  },
  {
    what: 'a port that is none',
    kind: BMC,
    body: bmcWith({ protocol: { name: 'Redfish', port: 70_000 } }),
    reason: 'AddressInvalid',
    says: /port 70000/,
  },
  {
    what: 'a negative port',
    kind: BMC,
    body: bmcWith({ protocol: { name: 'Redfish', port: -1 } }),
    reason: 'AddressInvalid',
    says: /port -1/,
  },
  { what: 'no address', kind: BMC, body: bmcWith({ access: {} }), reason: 'AddressMissing', says: /set one/ },
  {
    what: 'a secret that does not exist',
    kind: BMC,
    body: bmcWith({ bmcSecretRef: { name: 'nowhere' } }),
    reason: 'BMCSecretNotFound',
    says: /"nowhere" does not exist; create it/,
  },
  {
    what: 'a secret without password',
    kind: BMC,
    body: bmcWith({ bmcSecretRef: { name: 'half' } }),
    reason: 'BMCSecretIncomplete',
    says: /lacks key password/,
  },
  {
    what: 'an endpoint that does not exist',
    kind: BMC,
    body: bmcWith({ access: undefined, endpointRef: { name: '../../x' } }),
    reason: 'EndpointNotFound',
    says: /does not exist/,
  },
  {
    what: 'a CA bundle that is none',
    kind: BMC,
    body: bmcWith({
      protocol: { ...redfish, scheme: 'https', tls: { caBundle: 'no certificate' } },
      access: { ip: '127.0.0.1' },
    }),
    reason: 'CertificateInvalid',
    says: /caBundle/,
  },
  {
    what: 'an inline BMC with an address that is none',
    kind: Server,
    body: inlineServer({ address: 'not a host/☃?' }),
    reason: 'BMCNotUsable',
    says: /"not a host\/☃\?"/,
  },
  {
    what: 'an inline BMC with an unknown protocol',
    kind: Server,
    body: inlineServer({ protocol: { name: 'ipmi', port: 1 } }, '00000000-0000-0000-0000-000000000002'),
    reason: 'BMCNotUsable',
    says: /"ipmi" is not supported/,
  },
  {
    what: 'a BMC that does not exist',
    kind: Server,
    body: { spec: { systemUUID: '☃', bmcRef: { name: 'nowhere' } } },
    reason: 'BMCNotFound',
    says: /"nowhere"/,
  },
  {
    what: 'no BMC at all',
    kind: Server,
    body: { spec: { systemUUID: longText } },
    reason: 'BMCNotUsable',
    says: /set one of them/,
  },
  {
    what: 'huge annotations',
    kind: Server,
    metadata: { annotations: { note: 'ü'.repeat(100_000) } },
    body: { spec: { systemUUID: 'u' } },
    reason: 'BMCNotUsable',
    says: /set one of them/,
  },
  {
    what: 'an unknown operator in the selector',
    kind: ServerClaim,
    body: claimWith({ serverSelector: { matchExpressions: [{ key: 'rack', operator: 'Like', values: ['a'] }] } }),
    reason: 'NoServerMatches',
    says: /selects nothing \(matchExpressions: "Like" is no operator; expected In, NotIn, Exists or DoesNotExist\)/,
  },
  {
    what: 'a label value that is none in the selector',
    kind: ServerClaim,
    body: claimWith({ serverSelector: { matchLabels: { rack: longText } } }),
    reason: 'NoServerMatches',
    says: /is no label value/,
  },
  {
    what: 'a server that does not exist',
    kind: ServerClaim,
    body: claimWith({ serverRef: { name: '../servers' } }),
    reason: 'NoServerMatches',
    says: /server "\.\.\/servers" of spec\.serverRef does not exist/,
  },
  {
    what: 'a selector that is faulty',
    kind: ServerReadinessRule,
    body: ruleWith({ serverSelector: { matchExpressions: [{ key: 'ü', operator: 'Exists' }] } }),
    reason: 'InvalidSelector',
    says: /"ü" is no label key/,
  },
  {
    what: 'a name of 253 characters',
    kind: ServerReadinessRule,
    name: `${'x'.repeat(60)}.`.repeat(5).slice(0, 253).replace(/\.$/, 'x'),
    body: ruleWith({}),
    reason: 'NoServerSelected',
    says: /no server matches/,
  },
  {
    what: 'a MAC address of nobody',
    kind: Endpoint,
    body: { spec: { macAddress: '0000.0000.0001', ip: '::1' } },
    reason: 'UnknownMACPrefix',
    says: /0000\.0000\.0001 matches none/,
  },
  { what: 'no spec', kind: Endpoint, body: {}, reason: 'MACAddressMissing', says: /create a BMC object/ },
];

const create = (lab: Lab, { kind, metadata, body }: Bad, name: string) =>
  lab.client.raw({
    method: 'POST',
    path: `/apis/${kind.apiVersion}${kind.scope === 'Namespaced' ? '/namespaces/default' : ''}/${kind.plural}`,
    body: { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name, ...metadata }, ...body },
  });

test('bad objects are refused or explained, and a good server comes up among them', async () => {
  await using lab = await openLab({
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 200 },
  });
  const operator = await lab.startOperatorProcess();
  await lab.client.create(BMCSecret, { metadata: { name: 'good' }, stringData: { username: 'u', password: 'p' } });
  await lab.client.create(BMCSecret, { metadata: { name: 'half' }, stringData: { username: 'u' } });

  for (const bad of refused) {
    const refusal = await create(lab, bad, bad.name ?? 'bad').then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.ok(refusal instanceof KubeError && refusal.status === 422, `${bad.kind.kind} with ${bad.what} is refused`);
    assert.match(refusal.message, bad.says);
  }

  for (const [index, bad] of explained.entries()) await create(lab, bad, bad.name ?? `bad-${index}`);
  for (const [index, { kind, name = `bad-${index}`, reason, says, what }] of explained.entries()) {
    const subject = lab.object(kind, name);
    await subject.until(`${what}: says ${reason}`, () => subject.condition('Ready')?.reason === reason);
    assert.match(subject.condition('Ready')?.message ?? '', says, what);
  }

  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await claim.reaches('Bound');
  assert.deepEqual(
    operator.log.filter((line) => /unexpected error|did not come to rest|TypeError/.test(line)),
    [],
  );
});

/** As long as a name may be. */
const longestName = `${'n'.repeat(49)}.`.repeat(6).slice(0, 253).replace(/\.$/, 'n');

test('a BMC whose server would need too long a name says so', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  const { macAddress, address: ip } = node.bmc;
  await lab.client.create(Endpoint, { metadata: { name: longestName }, spec: { macAddress, ip } });
  const bmc = lab.bmcNamed(longestName);
  await bmc.says('Invalid');
  assert.match(bmc.condition('Ready')?.message ?? '', /-system-0": must be no more than 253 characters/);
});

test('a reference to no claim is dropped, and an image of nobody is explained', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  const { metadata } = await lab.server(node).says('Available');
  for (const ref of [
    { namespace: '..', name: '..' },
    { namespace: 'default', name: '' },
    { namespace: '☃', name: 'a/b?c=d' },
  ]) {
    await lab.patchServer(metadata.name, { spec: { serverClaimRef: ref } });
    await lab.server(node).until('has dropped it', ({ spec }) => spec.serverClaimRef === undefined);
  }
  await lab.server(node).says('Available');
  const odd = await lab.claim({ name: longestName, image: '☃\n'.repeat(100) });
  await odd.reaches('Bound');
  await lab.server(node).says('BootConfigurationFailed');
  await odd.delete();
  await odd.isGone();
  await lab.claim({ image: 'registry.test/os:1' });
  await lab.server(node).says('ClaimServed');
});

test('a server in maintenance is deleted only when its annotation allows that', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  const { metadata } = await lab.server(node).says('Available');
  const swap = { namespace: 'default', name: 'swap' };
  await lab.client.create(ServerMaintenance, {
    metadata: swap,
    spec: { policy: 'Enforced', serverRef: { name: metadata.name }, serverPower: 'Off' },
  });
  await lab.patchServer(metadata.name, { spec: { serverMaintenanceRef: swap } });
  await lab.server(node).reaches('Maintenance');
  await assert.rejects(
    lab.client.delete(Server, metadata),
    new RegExp(`cannot delete Server ${metadata.name} in state Maintenance`),
  );
  const annotations = { 'metal.ironcore.dev/operation': 'allow-in-progress-delete' };
  await lab.patchServer(metadata.name, { metadata: { annotations } });
  await lab.client.delete(BMC, { name: node.name });
  await lab.client.delete(Server, metadata);
  await lab.server(node).isGone();
});
