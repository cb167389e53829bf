import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { PowerState } from '@metal/redfish/resources/systems.ts';
import { Store } from '@metal/kube/cache/store.ts';
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
  /** What this process has seen of the machine. */
  readonly seen?: PowerState;
}

/** How server `spare` stands to a claim that it refers to. */
function bindingOf({ named, uid = 'claim-1', evicted, leaving, spec, status, bootFor, seen }: Scene): string {
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
      metadata: { ...reference, uid: 'boot-1' },
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
  ['is let go of by a claim that was evicted, although that names it', { named: 'spare', evicted: true }, 'lost'],
  ['is let go of by a claim that was evicted and never seen again', { uid: 'claim-0', evicted: true }, 'lost'],
  ['is let go of by a claim that names another', spare, 'lost'],
  ['is let go of when it was seen off', { ...spare, seen: 'Off' }, 'lost'],
  ['is not let go of when it was seen on', { ...spare, seen: 'On' }, 'bound'],
  ['is not let go of when it was told to be on', { ...spare, status: { powerState: 'On' } }, 'bound'],
  ['is not let go of when nobody knows', { ...spare, status: { powerState: 'Unknown' } }, 'bound'],
  ['is not let go of when the claim booted on it', { ...spare, status: { provisionedClaimUID: 'claim-1' } }, 'bound'],
  [
    'is not let go of when it was to boot for the claim',
    { ...spare, spec: { bootConfigurationRef: reference } },
    'bound',
  ],
  [
    'is let go of with the boot of its discovery',
    { ...spare, spec: { bootConfigurationRef: { namespace: 'metal', name: 'spare' } } },
    'lost',
  ],
  ['is not let go of while the claim has a boot for it', { ...spare, bootFor: 'spare' }, 'bound'],
  ['is not let go of when v0.7.0 bound it', { ...spare, uid: 'none' }, 'bound'],
  ['of a namesake is looked into as ever', { ...spare, uid: 'claim-0' }, 'notInCache'],
  ['of a claim that is deleted is taken back, whatever it names', { ...spare, leaving: true, seen: 'On' }, 'deleting'],
];
for (const [title, scene, expected] of lines) test(`a server ${title}`, () => assert.equal(bindingOf(scene), expected));
