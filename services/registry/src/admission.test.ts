import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { BootTokens } from '@metal/api/wire/boot-tokens.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import type { Kind } from '@metal/kube/kinds/kind.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { Admission } from './admission.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const boot: ServerBootConfiguration = {
  apiVersion,
  kind: 'ServerBootConfiguration',
  metadata: { name: 'erase', namespace: 'manager', uid: 'boot-uid', resourceVersion: '1' },
  spec: { serverRef: { name: 'erased' } },
};
const server = (name: string, day: number, spec: Partial<Server['spec']> = {}): Server => ({
  apiVersion,
  kind: 'Server',
  metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: `2026-01-0${day}T00:00:00Z` },
  spec: { systemUUID: 'AA-1', ...spec },
  status: { state: 'Cleanup' },
});
const erased = server('erased', 2, { bootConfigurationRef: { name: 'erase', namespace: 'manager' } });

function admissionOver(known: readonly Server[]): Admission {
  const servers = new Store<Server>();
  servers.addIndexes({ uuid: ({ spec }) => [spec.systemUUID.toLowerCase()] });
  for (const each of known) servers.upsertIfNewer(each);
  const find = async (kind: Kind) => (kind.kind === Server.kind ? erased : boot);
  return new Admission({
    auth: 'token',
    client: { find } as unknown as KubeClient, // only `find` is called
    servers,
    bootConfigurations: new Store<ServerBootConfiguration>(),
    tokens: {} as BootTokens, // no request has a token
    clock: fakeClock(),
  });
}

test('a report is accepted for the only Server of a machine', async () => {
  const admission = admissionOver([erased]);
  assert.equal(admission.knownSenderOf('aa-1', boot)?.server.metadata.name, 'erased');
  assert.equal((await admission.confirmedSenderOf('aa-1', boot)).server.metadata.name, 'erased');
});

test('an erasure report is rejected as soon as another Server manages the machine, also as the API server has it', async () => {
  const claimed = server('claimed', 3, { systemUUID: 'aa-1', serverClaimRef: { namespace: 'team', name: 'claim' } });
  const admission = admissionOver([erased, claimed]);
  assert.equal(admission.knownSenderOf('aa-1', boot), undefined);
  await assert.rejects(admission.confirmedSenderOf('aa-1', boot), {
    code: 'BootNotCurrent',
    message: 'Server claimed has the same system UUID and is acted on instead; delete one of the two',
  });
});

test('a younger Server of the machine without a claim does not stop the agent', () => {
  assert.equal(admissionOver([erased, server('young', 3)]).knownSenderOf('aa-1', boot)?.server.metadata.name, 'erased');
});
