import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { decideBoot, ignitionIsSpent, machineIsOff, denyReason } from './boot-decision.ts';

const now = Date.parse('2026-01-01T12:00:00Z');
const minutesAgo = (minutes: number): string => new Date(now - minutes * 60_000).toISOString();

interface Situation {
  ref?: { name: string; namespace: string } | undefined;
  maintenanceRef?: { name: string; namespace: string };
  state?: string;
  claimUid?: string;
  provisionedClaimUID?: string;
  bootState?: string;
  annotations?: Record<string, string>;
  deleting?: boolean;
  serverDeleting?: boolean;
  serverAnnotations?: Record<string, string>;
  bootOf?: string;
  power?: 'On' | 'Off';
  powerState?: string;
  seen?: Record<string, string>;
  diskImage?: ServerBootConfiguration['spec']['diskImage'];
}

const cleanup = { 'metal.ironcore.dev/type': 'Internal', 'metal.ironcore.dev/cleanup-attempt': '1' };
const deployment = { 'metal.ironcore.dev/type': 'Internal', 'metal.ironcore.dev/deployment': 'd-uid' };
const diskImage = { url: 'http://images.test/os', checksum: 'a', format: 'raw' };
const internal = { 'metal.ironcore.dev/type': 'Internal' };

function serverIn({
  ref = { name: 'b', namespace: 'ns' },
  maintenanceRef,
  state = 'Reserved',
  claimUid,
  provisionedClaimUID,
  serverDeleting = false,
  serverAnnotations = {},
  power = 'On',
  powerState,
}: Situation): Server {
  const claim = claimUid === undefined ? {} : { serverClaimRef: { name: 'c', namespace: 'ns', uid: claimUid } };
  const maintenance = maintenanceRef === undefined ? {} : { maintenanceBootConfigurationRef: maintenanceRef };
  return {
    apiVersion: 'metal.ironcore.dev/v1alpha1',
    kind: 'Server',
    metadata: {
      name: 's',
      annotations: serverAnnotations,
      ...(serverDeleting ? { deletionTimestamp: minutesAgo(1) } : {}),
    },
    spec: { systemUUID: 'u', bootConfigurationRef: ref, power, ...claim, ...maintenance },
    status: {
      state,
      ...(powerState === undefined ? {} : { powerState }),
      ...(provisionedClaimUID === undefined ? {} : { provisionedClaimUID }),
    },
  };
}

function bootIn({
  bootState = 'Ready',
  annotations = {},
  deleting = false,
  bootOf = 's',
  seen = {},
  diskImage: image,
}: Situation): ServerBootConfiguration {
  const conditions = Object.entries(seen).map(([type, lastTransitionTime]) => ({
    type,
    status: 'True' as const,
    reason: type,
    message: '',
    lastTransitionTime,
  }));
  return {
    apiVersion: 'metal.ironcore.dev/v1alpha1',
    kind: 'ServerBootConfiguration',
    metadata: {
      name: 'b',
      namespace: 'ns',
      uid: 'b-uid',
      annotations,
      ...(deleting ? { deletionTimestamp: minutesAgo(1) } : {}),
    },
    spec: { serverRef: { name: bootOf }, ...(image === undefined ? {} : { diskImage: image }) },
    status: { state: bootState, conditions },
  };
}

const boots: [string, Situation][] = [
  ['in discovery', { state: 'Discovery', annotations: internal }],
  ['in cleanup', { state: 'Cleanup', annotations: cleanup }],
  [
    'in discovery that is paused',
    { state: 'Discovery', annotations: internal, serverAnnotations: { 'metal.ironcore.dev/operation': 'ignore' } },
  ],
  ['whose disk image is to be written', { annotations: deployment, claimUid: 'c1' }],
  ['claimed and not yet installed', { claimUid: 'c1' }],
  ['with another claim than the installed one', { claimUid: 'c2', provisionedClaimUID: 'c1' }],
  ['whose ignition was delivered a moment ago', { claimUid: 'c1', seen: { IgnitionDataFetched: minutesAgo(2) } }],
  [
    'in discovery that was reset late',
    { state: 'Discovery', annotations: internal, seen: { IgnitionDataFetched: minutesAgo(20) } },
  ],
  [
    'in maintenance with a configuration for it',
    { state: 'Maintenance', ref: { name: 'x', namespace: 'ns' }, maintenanceRef: { name: 'b', namespace: 'ns' } },
  ],
  [
    'in maintenance with a configuration for it, whose claim is installed',
    {
      state: 'Maintenance',
      ref: { name: 'x', namespace: 'ns' },
      maintenanceRef: { name: 'b', namespace: 'ns' },
      claimUid: 'c1',
      provisionedClaimUID: 'c1',
    },
  ],
  ['whose token expires later', { annotations: { 'metal.ironcore.dev/boot-token-expires': minutesAgo(-5) } }],
];
for (const [title, situation] of boots) {
  test(`a server ${title} boots from the network`, () => {
    assert.equal(decideBoot(serverIn(situation), bootIn(situation), now).boot?.metadata.uid, 'b-uid');
  });
}

const localBoots: [string, Situation, RegExp][] = [
  ['that is installed', { claimUid: 'c1', provisionedClaimUID: 'c1' }, /installed already/],
  [
    'in maintenance without a configuration for it, whose claim is installed',
    { state: 'Maintenance', claimUid: 'c1', provisionedClaimUID: 'c1' },
    /installed already/,
  ],
  [
    'whose maintenance image has called home',
    {
      state: 'Maintenance',
      ref: { name: 'x', namespace: 'ns' },
      maintenanceRef: { name: 'b', namespace: 'ns' },
      claimUid: 'c1',
      provisionedClaimUID: 'c1',
      seen: { BootStateReceived: minutesAgo(1) },
    },
    /installed already/,
  ],
  ['whose system has called home', { seen: { BootStateReceived: minutesAgo(1) } }, /installed already/],
  ['whose ignition was delivered long ago', { seen: { IgnitionDataFetched: minutesAgo(11) } }, /installed already/],
  ['whose cleanup was stopped by a maintenance', { state: 'Maintenance', annotations: cleanup }, /not cleaned up/],
  [
    'whose cleanup a claim reference withdrew',
    { state: 'Cleanup', annotations: cleanup, claimUid: 'c1' },
    /not to be erased: spec\.serverClaimRef names claim ns\/c/,
  ],
  [
    'whose cleanup is paused',
    { state: 'Cleanup', annotations: cleanup, serverAnnotations: { 'metal.ironcore.dev/operation': 'ignore' } },
    /not to be erased: it is paused/,
  ],
  ['whose cleanup waits for a discovery', { state: 'Initial', annotations: cleanup }, /not cleaned up/],
  [
    'that is deleted while it is cleaned up',
    { state: 'Cleanup', annotations: cleanup, serverDeleting: true },
    /not cleaned up/,
  ],
  ['whose image is for its disk', { diskImage, claimUid: 'c1' }, /its image is on its disk/],
  ['whose claim left during a deployment', { annotations: deployment }, /nothing is to be written.*no claim holds it/],
  [
    'whose deployment was stopped by a maintenance',
    { annotations: deployment, claimUid: 'c1', state: 'Maintenance' },
    /nothing is to be written.*in state Maintenance/,
  ],
  [
    'whose deployment is paused',
    { annotations: deployment, claimUid: 'c1', serverAnnotations: { 'metal.ironcore.dev/operation': 'ignore' } },
    /nothing is to be written.*it is paused/,
  ],
  ['that is available', { state: 'Available' }, /state Available/],
  ['that is parked', { state: 'Parked' }, /state Parked/],
  ['whose configuration is not prepared', { bootState: 'Pending' }, /is Pending/],
  ['whose configuration cannot be booted', { bootState: 'Error' }, /is Error/],
  ['whose configuration is being deleted', { deleting: true }, /being deleted/],
  ['that refers to another configuration', { ref: { name: 'other', namespace: 'ns' } }, /another boot configuration/],
  [
    'that refers to the same name elsewhere',
    { ref: { name: 'b', namespace: 'elsewhere' } },
    /another boot configuration/,
  ],
  ['whose configuration is for another server', { bootOf: 't' }, /another server/],
  ['whose token expired', { annotations: { 'metal.ironcore.dev/boot-token-expires': minutesAgo(1) } }, /expired/],
  [
    'whose token expires at a time that is none',
    { annotations: { 'metal.ironcore.dev/boot-token-expires': 'soon' } },
    /expired/,
  ],
];
for (const [title, situation, reason] of localBoots) {
  test(`a server ${title} boots from its next device`, () => {
    const { boot, reason: why } = decideBoot(serverIn(situation), bootIn(situation), now);
    assert.equal(boot, undefined);
    assert.match(why ?? '', reason);
  });
}

const started: [string, Situation][] = [
  ['with spec.power On', { power: 'On', powerState: 'Off' }],
  ['that was started by hand', { power: 'Off', powerState: 'On' }],
  ['that is being started by hand', { power: 'Off', powerState: 'PoweringOn' }],
];
for (const [title, situation] of started)
  test(`a server ${title} boots from the network`, () => {
    assert.equal(decideBoot(serverIn(situation), bootIn(situation), now).boot?.metadata.uid, 'b-uid');
  });

for (const powerState of ['Off', 'PoweringOff', 'Unknown', undefined]) {
  test(`boot data are denied to a server without spec.power On that is ${powerState}`, () => {
    const situation: Situation = { power: 'Off', ...(powerState === undefined ? {} : { powerState }) };
    const { boot, isHeld } = decideBoot(serverIn(situation), bootIn(situation), now);
    assert.deepEqual([boot, isHeld], [undefined, true]);
    assert.equal(denyReason(bootIn(situation), serverIn(situation), now), machineIsOff, 'nor is its token good');
  });
}

test('an installed server that is off boots from its next device', () => {
  const installed = { claimUid: 'c1', provisionedClaimUID: 'c1', power: 'Off' } as const;
  assert.match(decideBoot(serverIn(installed), bootIn(installed), now).reason ?? '', /installed already/);
});

test('ignition is served again only for a limited time, except for discovery', () => {
  assert.equal(ignitionIsSpent(bootIn({}), now), false);
  assert.equal(ignitionIsSpent(bootIn({ seen: { IgnitionDataFetched: minutesAgo(9) } }), now), false);
  assert.equal(ignitionIsSpent(bootIn({ seen: { IgnitionDataFetched: minutesAgo(11) } }), now), true);
  assert.equal(
    ignitionIsSpent(bootIn({ seen: { IgnitionDataFetched: minutesAgo(11) }, annotations: internal }), now),
    false,
  );
});
