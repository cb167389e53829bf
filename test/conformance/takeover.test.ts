import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kinds } from '@metal/api/kinds.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { toCustomResourceDefinition } from '@metal/kube/kinds/crd.ts';
import { CustomResourceDefinition } from '@metal/kube/kinds/builtin.ts';
import type { Kind, KubeObject, NewObject } from '@metal/kube/kinds/kind.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { startCluster } from '@metal/testenv/cluster/cluster.ts';
import { startTestenv, type Testenv } from '@metal/testenv/testenv.ts';
import { formerSpec, reference } from './former-kinds.ts';

const namespace = 'default';
const time = '2026-01-01T00:00:00Z';
const written = { fieldManager: 'manager' };

/** Sets the kinds to those of v0.7.0, or to those of this version. */
async function setKinds({ client }: Testenv, version: 'v0.7.0' | 'this'): Promise<void> {
  for (const kind of kinds.filter(({ kind: name }) => name in reference)) {
    const spec = version === 'this' ? toCustomResourceDefinition(kind).spec : formerSpec(kind);
    await client.mergePatch(CustomResourceDefinition, { name: `${kind.plural}.${kind.group}` }, { spec });
  }
}

interface Written<T extends KubeObject> {
  readonly spec: NewObject<T>;
  readonly status?: object;
}

/** As the manager of v0.7.0 does: by updates, with a status of its own. */
async function write<T extends KubeObject>(
  { client }: Testenv,
  kind: Kind<T>,
  { spec, status }: Written<T>,
): Promise<T> {
  const created = await client.create(kind, spec, written);
  if (status === undefined) return created;
  return client.mergePatch(kind, created.metadata, { status }, { ...written, subresource: 'status' });
}

function ownedBy({ apiVersion, kind, metadata }: KubeObject) {
  const { name, uid = '' } = metadata;
  return [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }];
}

/** Endpoint, BMCSecret and BMC, which all have the name of the Endpoint. */
async function writeBmc(testenv: Testenv, { name, bmc }: Node): Promise<BMC> {
  const { macAddress, address: ip, username, password, profile } = bmc;
  const endpoint = await write(testenv, Endpoint, { spec: { metadata: { name }, spec: { macAddress, ip } } });
  const metadata = { name, ownerReferences: ownedBy(endpoint) };
  const encoded = (text: string) => Buffer.from(text).toString('base64');
  const data = { username: encoded(username), password: encoded(password) };
  await write(testenv, BMCSecret, { spec: { metadata, data } });
  return write(testenv, BMC, {
    spec: {
      metadata,
      spec: {
        endpointRef: { name },
        bmcSecretRef: { name },
        protocol: { name: 'Redfish', port: testenv.fleet.port, scheme: 'http' },
        consoleProtocol: { name: 'SSH', port: 22 },
      },
    },
    status: {
      macAddress,
      ip,
      manufacturer: profile.manufacturer,
      state: 'Enabled',
      powerState: 'On',
      conditions: [condition('Ready', 'Connected', 'BMC is connected')],
    },
  });
}

const condition = (type: string, reason: string, message: string) => ({
  type,
  status: 'True',
  reason,
  message,
  lastTransitionTime: time,
});

const networkInterfaces = [{ name: 'eth0', macAddress: '02:00:00:00:00:01', ips: ['192.0.2.7'], carrierStatus: 'up' }];

interface Use {
  readonly state: 'Available' | 'Reserved';
  readonly power: 'On' | 'Off';
  readonly claim?: string;
}

/** A Server with its BMC. v0.7.0 records no UID of the claim, and never clears the condition PoweringOn. */
async function writeServer(testenv: Testenv, node: Node, { state, power, claim }: Use): Promise<void> {
  const bmc = await writeBmc(testenv, node);
  const name = `${node.name}-system-0`;
  const ref = claim === undefined ? undefined : { name: claim, namespace };
  await write(testenv, Server, {
    spec: {
      metadata: { name, finalizers: ['metal.ironcore.dev/server'], ownerReferences: ownedBy(bmc) },
      spec: {
        systemUUID: node.uuid.toLowerCase(),
        systemURI: `/redfish/v1/Systems/${node.machine.systemId}`,
        bmcRef: { name: node.name },
        power,
        ...(ref === undefined ? {} : { serverClaimRef: ref, bootConfigurationRef: ref }),
      },
    },
    status: {
      state,
      powerState: power,
      indicatorLED: 'Off',
      manufacturer: node.bmc.profile.manufacturer,
      totalSystemMemory: '64Gi',
      networkInterfaces,
      conditions: [condition('PoweringOn', 'ServerPowerOn', 'Server is powering on')],
    },
  });
  if (ref !== undefined) await writeClaim(testenv, { claim: ref.name, server: name, power });
}

/** The claim and its boot, which have the same name. */
async function writeClaim(
  testenv: Testenv,
  { claim: name, server, power }: { claim: string; server: string; power: 'On' | 'Off' },
): Promise<void> {
  const image = 'registry.test/os:1';
  const serverRef = { name: server };
  const claim = await write(testenv, ServerClaim, {
    spec: {
      metadata: { name, namespace, finalizers: ['metal.ironcore.dev/serverclaim'] },
      spec: { power, image, serverRef },
    },
    status: { phase: 'Bound' },
  });
  await write(testenv, ServerBootConfiguration, {
    spec: { metadata: { name, namespace, ownerReferences: ownedBy(claim) }, spec: { serverRef, image } },
    status: { state: 'Ready' },
  });
}

test('objects of v0.7.0 are taken over without a power action, keep their state, and go back to its kinds', async () => {
  await using cluster = await startCluster();
  await using testenv = await startTestenv({ cluster, operator: 'none' });
  await setKinds(testenv, 'v0.7.0');
  const free = await testenv.fleet.add({ vendor: 'dell' });
  const running = await testenv.fleet.add({ vendor: 'hpe', inUse: true });
  const claimedOff = await testenv.fleet.add({ vendor: 'lenovo' });
  const nodes = [free, running, claimedOff];
  for (const node of nodes) testenv.timeline.follow(node);
  await writeServer(testenv, free, { state: 'Available', power: 'Off' });
  await writeServer(testenv, running, { state: 'Reserved', power: 'On', claim: 'running' });
  await writeServer(testenv, claimedOff, { state: 'Reserved', power: 'Off', claim: 'off' });
  const before = nodes.map(({ power, powerLog }) => ({ power, powerLog: [...powerLog] }));

  await setKinds(testenv, 'this');
  await testenv.startOperator();
  await testenv.server(free).hasReason('Available');
  await testenv.claims.named('running').hasCondition('Ready', 'True');
  await testenv.claims.named('off').hasCondition('Ready', 'True');
  for (const node of nodes)
    await testenv.bmc(node).until('is read', ({ status }) => status?.firmwareVersion !== undefined);
  await testenv.untilStable(60_000);
  const after = nodes.map(({ power, powerLog }) => ({ power, powerLog: [...powerLog] }));
  assert.deepEqual(after, before);
  const states = nodes.map((node) => testenv.server(node).now?.status?.state);
  assert.deepEqual(states, ['Available', 'Reserved', 'Reserved']);
  for (const kind of [Endpoint, BMC, BMCSecret, Server])
    assert.equal((await testenv.client.list<KubeObject>(kind)).items.length, nodes.length, `no second ${kind.kind}`);
  for (const node of nodes)
    assert.deepEqual(testenv.server(node).now?.status?.networkInterfaces, networkInterfaces, 'from its discovery');
  assert.equal(
    testenv.server(running).now?.spec.serverClaimRef?.uid,
    testenv.claims.named('running').now?.metadata.uid,
  );

  await testenv.system[Symbol.asyncDispose]();
  await setKinds(testenv, 'v0.7.0');
  for (const node of nodes) {
    const { name } = (await testenv.server(node).exists()).metadata;
    const { status = {} } = await testenv.client.get(Server, { name });
    assert.equal(status.stateSince, undefined, 'v0.7.0 does not know it');
    assert.equal(status.state, node === free ? 'Available' : 'Reserved');
  }
});
