import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { Store } from '@metal/kube/cache/store.ts';
import type { PowerState } from '@metal/redfish/resources/systems.ts';
import { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { claimFacts } from './facts.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const reference = { namespace: 'team', name: 'one' };

interface Scene {
  /** The server that the claim names, if any. */
  readonly named?: string;
  readonly uid?: string | undefined;
  readonly evicted?: boolean;
  readonly leaving?: boolean;
  readonly spec?: Partial<Server['spec']>;
  readonly status?: Server['status'];
  /** Server that the boot configuration of the claim is for. */
  readonly bootFor?: string;
  /** Of that boot configuration; by default the namespace of the claim. */
  readonly bootNamespace?: string;
  /** The power state that this process observed. */
  readonly seen?: PowerState;
}

/** The binding of server `spare` to the claim that it refers to. */
function bindingOf({
  named,
  uid = 'claim-1',
  evicted,
  leaving,
  spec,
  status,
  bootFor,
  bootNamespace,
  seen,
}: Scene): string {
  const serverClaimRef = uid === 'none' ? reference : { ...reference, uid, ...(evicted === true ? { evicted } : {}) };
  const server: Server = {
    apiVersion,
    kind: 'Server',
    metadata: { name: 'spare', uid: 'spare' },
    spec: { systemUUID: 'a', serverClaimRef, ...spec },
    status: { state: 'Reserved', powerState: 'Off', ...status },
  };
  const claims = new Store<ServerClaim>();
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  claims.upsertIfNewer({
    apiVersion,
    kind: 'ServerClaim',
    metadata: { ...reference, uid: 'claim-1', ...(leaving === true ? { deletionTimestamp } : {}) },
    spec: { power: 'On', image: 'os', ...(named === undefined ? {} : { serverRef: { name: named } }) },
  });
  const bootConfigurations = new Store<ServerBootConfiguration>();
  bootConfigurations.addIndexes({ owner: () => ['claim-1'] });
  if (bootFor !== undefined)
    bootConfigurations.upsertIfNewer({
      apiVersion,
      kind: 'ServerBootConfiguration',
      metadata: { ...reference, namespace: bootNamespace ?? reference.namespace, uid: 'boot-1' },
      spec: { serverRef: { name: bootFor }, image: 'os' },
    });
  const memory = new ObservedSystem();
  if (seen !== undefined) memory.state = { value: { powerState: seen }, at: 0 } as NonNullable<ObservedSystem['state']>;
  return claimFacts(server, memory, { claims, bootConfigurations }, 0).binding;
}

const spare: Scene = { named: 'other', bootFor: 'other' };
const lines: [title: string, scene: Scene, binding: string][] = [
  ['is held by a claim that has not named its server yet', {}, 'bound'],
  ['is held by a claim that names it', { named: 'spare' }, 'bound'],
  ['is lost to an evicted claim that names it', { named: 'spare', evicted: true }, 'lost'],
  ['is lost to an evicted claim that does not exist', { uid: 'claim-0', evicted: true }, 'lost'],
  ['is lost to a claim that names another server', spare, 'lost'],
  ['is lost to a claim that names another server when it was observed off', { ...spare, seen: 'Off' }, 'lost'],
  ['stays bound when it was observed on', { ...spare, seen: 'On' }, 'bound'],
  ['stays bound when its status reports On', { ...spare, status: { powerState: 'On' } }, 'bound'],
  ['stays bound when its power state is unknown', { ...spare, status: { powerState: 'Unknown' } }, 'bound'],
  ['stays bound when the claim has booted on it', { ...spare, status: { provisionedClaimUID: 'claim-1' } }, 'bound'],
  [
    'stays bound when it refers to the boot configuration of the claim',
    { ...spare, spec: { bootConfigurationRef: reference } },
    'bound',
  ],
  [
    'is lost although it refers to the boot of its discovery',
    { ...spare, spec: { bootConfigurationRef: { namespace: 'metal', name: 'spare' } } },
    'lost',
  ],
  ['stays bound while the claim has a boot configuration for it', { ...spare, bootFor: 'spare' }, 'bound'],
  [
    'is lost although a boot configuration of another namespace names the claim as its owner',
    { ...spare, bootFor: 'spare', bootNamespace: 'other' },
    'lost',
  ],
  ['stays bound when v0.7.0 bound it', { ...spare, uid: 'none' }, 'bound'],
  ['bound to another claim of that name is verified', { ...spare, uid: 'claim-0' }, 'notInCache'],
  [
    'of a claim that is being deleted is released, whatever the claim names',
    { ...spare, leaving: true, seen: 'On' },
    'deleting',
  ],
];
for (const [title, scene, expected] of lines) test(`a server ${title}`, () => assert.equal(bindingOf(scene), expected));
