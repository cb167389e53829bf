import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { DeploymentReport } from '@metal/api/wire/deployment.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { Deployments, type DeploymentsOptions, requireDeploymentBoot } from './deployments.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const annotations = { 'metal.ironcore.dev/type': 'Internal', 'metal.ironcore.dev/deployment': 'claim-boot' };
const agentBoot: ServerBootConfiguration = {
  apiVersion,
  kind: 'ServerBootConfiguration',
  metadata: { name: 's1', namespace: 'system', uid: 'agent-boot', annotations },
  spec: { serverRef: { name: 's1' } },
};
const claimBoot: ServerBootConfiguration = {
  ...agentBoot,
  metadata: { name: 'one', namespace: 'team', uid: 'claim-boot' },
};
const server: Server = {
  apiVersion,
  kind: 'Server',
  metadata: { name: 's1' },
  spec: { systemUUID: 'u1', serverClaimRef: { namespace: 'team', name: 'one', uid: 'claim-1' } },
  status: { state: 'Reserved' },
};
const running: DeploymentReport = {
  systemUUID: 'u1',
  deployment: 'claim-boot',
  state: 'Running',
  step: 'Preparing',
  message: '',
  diskName: 'sda',
  writtenBytes: 0,
};

/** A registry whose API server has these objects. */
function registryOf(live: { server?: Server; claimBoot?: ServerBootConfiguration | undefined } = {}) {
  const written: unknown[] = [];
  let [now, reads] = [0, 0];
  const state = { server: live.server ?? server, agent: agentBoot };
  const client: Pick<KubeClient, 'find' | 'apply'> = {
    find: async () => ('claimBoot' in live ? live.claimBoot : claimBoot) as never,
    apply: async (_kind, object) => {
      const { status } = object as Pick<ServerBootConfiguration, 'status'>;
      written.push(status?.deployment?.state);
      state.agent = { ...state.agent, status };
      return object as never;
    },
  };
  const options = {
    admission: {
      knownSenderOf: () => ({ server: state.server, boot: state.agent }),
      confirmedSenderOf: async () => {
        reads += 1;
        return { server: state.server, boot: state.agent };
      },
    },
    client,
    clock: { now: () => now },
  } as unknown as DeploymentsOptions;
  const deployments = new Deployments(options);
  return {
    written,
    reads: () => reads,
    pass: (ms: number) => void (now += ms),
    change: (other: Server) => void (state.server = other),
    put: (report: Partial<DeploymentReport>) => deployments.put({ ...running, ...report }, state.agent),
  };
}

const rejections: [string, Parameters<typeof registryOf>[0]][] = [
  ['of a server that is not Reserved', { server: { ...server, status: { state: 'Maintenance' } } }],
  ['of a server without a claim', { server: { ...server, spec: { systemUUID: 'u1' } } }],
  ['whose claim has no boot configuration any more', { claimBoot: undefined }],
  ['whose claim has another one', { claimBoot: { ...claimBoot, metadata: { ...claimBoot.metadata, uid: 'other' } } }],
];
for (const [what, live] of rejections) {
  test(`a deployment ${what} gets no permission`, async () => {
    const registry = registryOf(live);
    await assert.rejects(registry.put({}), { code: 'DeploymentNotOrdered' });
    assert.deepEqual(registry.written, []);
  });
}

test('a report of another deployment than the token is rejected', () =>
  assert.rejects(registryOf().put({ deployment: 'other' }), { code: 'DeploymentNotOrdered' }));

test('the token of a boot without a deployment is rejected', () =>
  assert.throws(() => requireDeploymentBoot(claimBoot), { code: 'TokenNotForReports' }));

test('success needs permission first, and stays', async () => {
  const registry = registryOf();
  await assert.rejects(registry.put({ state: 'Succeeded' }), { code: 'DeploymentNotBegun' });
  assert.equal(await registry.put({}), 'stored');
  assert.equal(await registry.put({ state: 'Succeeded' }), 'stored');
  assert.equal(await registry.put({ state: 'Succeeded' }), 'known');
  await assert.rejects(registry.put({ state: 'Failed' }), { code: 'ReportedDifferently' });
  assert.deepEqual(registry.written, ['Running', 'Succeeded']);
});

test('progress is written every 5 s or with a new step, and confirmed every 20 s', async () => {
  const registry = registryOf();
  await registry.put({});
  assert.equal(await registry.put({ writtenBytes: 1 }), 'known');
  assert.equal(await registry.put({ step: 'Writing' }), 'stored');
  registry.pass(5_000);
  assert.equal(await registry.put({ step: 'Writing', writtenBytes: 2 }), 'stored');
  assert.equal(registry.reads(), 1);
  registry.pass(20_000);
  await registry.put({ step: 'Writing' });
  assert.equal(registry.reads(), 2);
});

test('an agent that writes is stopped once the claim is gone', async () => {
  const registry = registryOf();
  await registry.put({});
  registry.change({ ...server, spec: { systemUUID: 'u1' } });
  await assert.rejects(registry.put({ step: 'Writing' }), { code: 'DeploymentNotOrdered' });
});
