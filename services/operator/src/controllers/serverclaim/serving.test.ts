import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { reprovisionAnnotation } from '@metal/api/wire/contract.ts';
import type { Condition } from '@metal/kube/kinds/kind.ts';
import { isUnstarted } from './boot-trace.ts';
import { bootProblemReasons } from './boot-problem-reasons.ts';
import { servingOf } from './serving.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const condition = (type: string, status: Condition['status'], reason: string, message = ''): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const notBooted = [condition('Booted', 'False', 'WaitingForBoot')];
const claimWith = (spec: Partial<ServerClaim['spec']> = {}, conditions = notBooted): ServerClaim => ({
  apiVersion,
  kind: 'ServerClaim',
  metadata: { name: 'one', namespace: 'team', uid: 'claim-1' },
  spec: { power: 'On', image: 'os', ...spec },
  status: { conditions },
});
const serverWith = (status: Server['status'] = {}, spec: Partial<Server['spec']> = {}): Server => ({
  apiVersion,
  kind: 'Server',
  metadata: { name: 's1' },
  spec: {
    systemUUID: 'a',
    bmcRef: { name: 'b1' },
    serverClaimRef: { namespace: 'team', name: 'one', uid: 'claim-1' },
    bootConfigurationRef: { namespace: 'team', name: 'one' },
    power: 'On',
    ...spec,
  },
  status: { state: 'Reserved', powerState: 'On', ...status },
});
const bootWith = (
  status: ServerBootConfiguration['status'] = {},
  spec: ServerBootConfiguration['spec'] = { serverRef: { name: 's1' }, image: 'os' },
): ServerBootConfiguration => ({
  apiVersion,
  kind: 'ServerBootConfiguration',
  metadata: { name: 'one', namespace: 'team', uid: 'boot-1' },
  spec,
  status: { state: 'Ready', boot: { image: 'os', method: 'iPXE' }, ...status },
});
const withSteps = (...names: string[]) => ({
  boot: { image: 'os', steps: names.map((name) => ({ name, time: '2026-01-01T00:00:00Z' })) },
});
const withIgnition = { serverRef: { name: 's1' }, image: 'os', ignitionSecretRef: { name: 'ignition' } };
const failed = (message: string, type = 'ImageValidation') => ({
  state: 'Error',
  conditions: [condition(type, 'False', 'ValidationFailed', message)],
});
const away = [condition('BMCReachable', 'False', 'BMCNotReady'), condition('Ready', 'False', 'BMCNotReady')];
const notReady = (reason: string) => [condition('Ready', 'False', reason)];
const bmc: BMC = {
  apiVersion,
  kind: 'BMC',
  metadata: { name: 'b1' },
  spec: { bmcSecretRef: { name: 'b1' }, protocol: { name: 'Redfish', port: 443 } },
  status: { conditions: [condition('Ready', 'False', 'TlsUntrusted')] },
};

type Line = [title: string, expected: string, claim: ServerClaim, server: Server, boot?: ServerBootConfiguration];
const on = claimWith();
const off = claimWith({ power: 'Off' });
const unset = claimWith({ power: '' });
const seenOn = [condition('Booted', 'True', 'Booted')];
/** Nothing was reported about its boot, as after an upgrade or a restore. */
const fresh: ServerClaim = { ...claimWith(), status: {} };
const ranBefore = claimWith({}, [condition('Booted', 'Unknown', 'BootNotTraced')]);
const unobserved = serverWith({ powerState: undefined });
const untraced = bootWith({ boot: undefined });
const fetching = bootWith(withSteps('script'));
const overdue = [condition('BootOverdue', 'True', 'ScriptOverdue')];
const bootAgain: ServerBootConfiguration = {
  ...bootWith(),
  metadata: {
    name: 'one',
    namespace: 'team',
    uid: 'boot-1',
    annotations: { [reprovisionAnnotation]: '2026-02-01T00:00:00.000Z' },
  },
};

/** Reason of the blocker, conditions BootConfigurationReady and Booted. */
const lines: Line[] = [
  ['without a boot configuration', 'ImageToBoot Unknown False', on, serverWith({ powerState: 'Off' })],
  [
    'whose boot is not prepared',
    'WaitingForBootService Unknown False',
    on,
    serverWith(),
    bootWith({ state: 'Pending' }),
  ],
  [
    'whose image is pulled',
    'ImagePulling Unknown False',
    on,
    serverWith(),
    bootWith({ state: 'Pending', conditions: [condition('ImageValidation', 'Unknown', 'ImagePulling')] }),
  ],
  [
    'whose ignition is missing',
    'IgnitionMissing False False',
    on,
    serverWith(),
    bootWith(failed('IgnitionMissing: Secret team/x', 'IgnitionValidation')),
  ],
  [
    'with an error of another boot operator',
    'BootConfigurationFailed False False',
    on,
    serverWith(),
    bootWith(failed('no kernel')),
  ],
  [
    'to be off, whose image is missing',
    'ImageMissing False False',
    off,
    serverWith({ powerState: 'Off' }),
    bootWith(failed('ImageMissing: x')),
  ],
  ['whose BMC is away', 'BMCNotReady True False', on, serverWith({ conditions: away }), bootWith()],
  [
    'whose server is parked',
    'ServerParked True False',
    on,
    serverWith({ state: 'Parked', powerState: 'Off' }),
    bootWith(),
  ],
  ['in maintenance', 'ServerInMaintenance True False', on, serverWith({ state: 'Maintenance' }), bootWith()],
  ['whose server failed', 'ServerFailed True False', on, serverWith({ state: 'Error' }), bootWith()],
  [
    'whose server lost power',
    'SafeStop True False',
    on,
    serverWith({ powerState: 'Off', conditions: notReady('SafeStop') }),
    bootWith(),
  ],
  [
    'whose server has another problem',
    'ServerNotReady True False',
    on,
    serverWith({ conditions: notReady('StaleDecision') }),
    bootWith(),
  ],
  ['that is not on yet', 'WaitingForPower True False', on, serverWith({ powerState: 'Off' }), bootWith()],
  [
    'whose server is about to start',
    'WaitingForBoot True False',
    on,
    serverWith({ conditions: notReady('ClaimBoots') }),
    bootWith(),
  ],
  [
    'that fetched nothing',
    'WaitingForBoot True False',
    on,
    serverWith({ conditions: notReady('WaitingForBoot') }),
    bootWith(),
  ],
  ['with a kernel only', 'WaitingForBoot True False', on, serverWith(), bootWith(withSteps('script', 'kernel'))],
  ['that loaded its image', 'ready True True', on, serverWith(), bootWith(withSteps('script', 'kernel', 'initrd'))],
  [
    'that has to load its ignition',
    'WaitingForBoot True False',
    on,
    serverWith(),
    bootWith(withSteps('kernel', 'initrd'), withIgnition),
  ],
  [
    'that loaded its ignition',
    'ready True True',
    on,
    serverWith(),
    bootWith(withSteps('initrd', 'ignition'), withIgnition),
  ],
  [
    'whose boot data was fetched while off',
    'WaitingForPower True False',
    on,
    serverWith({ powerState: 'Off' }),
    bootWith(withSteps('initrd')),
  ],
  [
    'whose boot data was fetched before the start',
    'WaitingForBoot True False',
    on,
    serverWith({ pendingBootUID: 'boot-1' }),
    bootWith(withSteps('initrd')),
  ],
  [
    'that booted and is off again',
    'ready True True',
    claimWith({ power: 'Off' }, seenOn),
    serverWith({ powerState: 'Off' }),
    bootWith(withSteps('initrd')),
  ],
  ['that the Server recorded', 'ready True True', on, serverWith({ provisionedClaimUID: 'claim-1' }), bootWith()],
  [
    'that booted, and whose registry is lost',
    'ready False True',
    on,
    serverWith({ provisionedClaimUID: 'claim-1' }),
    bootWith(failed('ImageMissing: x')),
  ],
  [
    'that boots from the network each time, and whose registry is lost',
    'ImageMissing False True',
    claimWith({ bootPolicy: 'networkAlways' }),
    serverWith({ provisionedClaimUID: 'claim-1' }),
    bootWith(failed('ImageMissing: x')),
  ],
  ['whose boot leaves no trace', 'ready True Unknown', on, serverWith(), untraced],
  ['whose boot is overdue', 'BootOverdue True False', on, serverWith(), bootWith({ conditions: overdue })],
  ['to be off, never started', 'ready True False', off, serverWith({ powerState: 'Off' }), bootWith()],
  ['with power "", of a machine that is off', 'ready True False', unset, serverWith({ powerState: 'Off' }), bootWith()],
  ['whose boot without a trace was ended', 'ready True Unknown', off, serverWith({ powerState: 'Off' }), untraced],
  [
    'to be off, whose boot without a trace awaits its start',
    'ready True False',
    off,
    serverWith({ powerState: 'Off', pendingBootUID: 'boot-1' }),
    untraced,
  ],
  [
    'whose image was corrected after it was prepared',
    'WaitingForBootService Unknown False',
    on,
    serverWith({ powerState: 'Off' }),
    bootWith({}, { serverRef: { name: 's1' }, image: 'corrected' }),
  ],
  ['of a machine that ran before the upgrade', 'ready True Unknown', fresh, serverWith(), bootWith()],
  ['of a machine that was not observed yet', 'WaitingForPower True Unknown', fresh, unobserved, bootWith()],
  ['whose boot is to be remade after a restore', 'ImageToBoot Unknown Unknown', fresh, serverWith()],
  ['that ran before, as was reported', 'ready True Unknown', ranBefore, serverWith(), bootWith()],
  ['that ran before and is overdue', 'ready True Unknown', ranBefore, serverWith(), bootWith({ conditions: overdue })],
  ['that ran before and fetches its boot', 'WaitingForBoot True False', ranBefore, serverWith(), fetching],
  [
    'that ran before and is to be started',
    'WaitingForBoot True False',
    ranBefore,
    serverWith({ pendingBootUID: 'boot-1' }),
    bootWith(),
  ],
  ['that ran before and is to boot again', 'WaitingForBoot True False', ranBefore, serverWith(), bootAgain],
  [
    'of a machine that runs for something else',
    'WaitingForBoot True False',
    fresh,
    serverWith({}, { bootConfigurationRef: undefined }),
    bootWith(),
  ],
  ...['PowerDrifted', 'PowerChangeUnderWay', 'PowerNotYetConfirmed', 'ClaimNotSeen'].map(
    (reason): Line => [
      `whose server waits with ${reason}`,
      'WaitingForPower True False',
      on,
      serverWith({ powerState: 'Off', conditions: notReady(reason) }),
      bootWith(),
    ],
  ),
];

for (const [title, expected, claim, server, boot] of lines) {
  test(`a bound claim ${title}: ${expected}`, () => {
    const { blocker, prepared, booted } = servingOf({ claim, server, boot, bmc });
    const { reason = 'ready', message = '' } = blocker ?? {};
    assert.equal([reason, prepared.status, booted.status].join(' '), expected);
    assert.ok(message.length <= 160, message);
  });
}

test('a claim names the reason of the BMC and of the server in brackets', () => {
  const messageOf = (server: Server) => servingOf({ claim: on, server, boot: bootWith(), bmc }).blocker?.message ?? '';
  assert.match(messageOf(serverWith({ conditions: away })), /the BMC of server s1 cannot be used \(TlsUntrusted\)/);
  const waits = serverWith({ powerState: 'Off', conditions: notReady('WaitingForPowerOn') });
  assert.match(messageOf(waits), /server s1 is Off, and the claim asks for On \(WaitingForPowerOn\)/);
});

test('each problem of a boot configuration makes one short message', () => {
  for (const code of Object.keys(bootProblemReasons)) {
    const input = { claim: on, server: serverWith(), boot: bootWith(failed(`${code}: long text`)), bmc };
    const { message = '', reason = '' } = servingOf(input).blocker ?? {};
    assert.equal(reason, code);
    assert.match(message, /^boot configuration one: \w.*; \w/);
    assert.ok(message.length <= 160, message);
    assert.doesNotMatch(message, /long text/);
  }
});

const waitingServer = (status: Server['status'] = {}, spec: Partial<Server['spec']> = {}) =>
  serverWith({ powerState: 'Off', pendingBootUID: 'boot-1', ...status }, spec);
const misspelt = bootWith({ state: 'Error' });
const corrections: [
  title: string,
  isUnstarted: boolean,
  server: Server,
  boot?: ServerBootConfiguration,
  claim?: ServerClaim,
][] = [
  ['a rejected image', true, waitingServer()],
  [
    'a rejected image that the server has not adopted',
    true,
    waitingServer({ pendingBootUID: undefined }, { bootConfigurationRef: undefined }),
  ],
  ['a prepared image that is not to be started', true, waitingServer({}, { power: 'Off' }), bootWith(), off],
  ['a prepared image that may be started now', false, waitingServer(), bootWith()],
  ['a prepared image that the claim wants on', false, waitingServer({}, { power: 'Off' }), bootWith(), on],
  ['an image that was started', false, waitingServer({ pendingBootUID: undefined })],
  ['an image of a machine that is on', false, waitingServer({ powerState: 'On' })],
  ['an image of a machine with unknown power', false, waitingServer({ powerState: undefined })],
  ['an image that was booted', false, waitingServer({ provisionedClaimUID: 'claim-1' })],
  ['an image whose script was fetched', false, waitingServer(), bootWith({ state: 'Error', ...withSteps('script') })],
  [
    'an image whose ignition was fetched',
    false,
    waitingServer(),
    bootWith({ state: 'Error', conditions: [condition('IgnitionDataFetched', 'True', 'IgnitionDataDelivered')] }),
  ],
  [
    'a disk image whose deployment failed',
    true,
    waitingServer(),
    bootWith({ deployment: { state: 'Failed', time: '2026-01-01T00:00:00Z' } }),
    on,
  ],
  [
    'a disk image that is being written',
    false,
    waitingServer(),
    bootWith({ state: 'Error', deployment: { state: 'Running', time: '2026-01-01T00:00:00Z' } }),
  ],
  ['an image of a server of another claim', false, waitingServer({}, { serverClaimRef: undefined })],
];
for (const [title, expected, server, boot = misspelt, claim = on] of corrections) {
  test(`a correction of ${title} is ${expected ? '' : 'not '}taken over`, () => {
    assert.equal(isUnstarted(claim, server, boot), expected);
  });
}
