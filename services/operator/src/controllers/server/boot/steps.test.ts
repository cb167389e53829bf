import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { restorePreparedBoot } from '../memory.ts';
import { calmServer as calm, decide, boundClaim as held, readyBoot } from '../../../../test/server/table.rows.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import { awaitsStart, bootFactsOf } from './configuration-facts.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const server: Server = { apiVersion, kind: 'Server', metadata: { name: 's' }, spec: { systemUUID: 'u' } };
const lastTransitionTime = '2026-01-01T00:00:00Z';
const bootWith = (status: ServerBootConfiguration['status']): ServerBootConfiguration => ({
  apiVersion,
  kind: 'ServerBootConfiguration',
  metadata: { name: 'b', uid: 'boot-1' },
  spec: { serverRef: { name: 's' } },
  status: { state: 'Ready', ...status },
});
const observe = (memory: ObservedSystem, powerState: 'On' | 'Off' | 'PoweringOn') =>
  memory.record({ powerState } as Parameters<typeof memory.record>[0], 1); // only the power state is used

const serverWith = (pendingBootUID: string): Server => ({ ...server, status: { pendingBootUID } });
const machines: [title: string, before: (memory: ObservedSystem) => void, object: Server, awaits: boolean][] = [
  ['without a known boot', () => undefined, server, false],
  ['whose boot was prepared', (memory) => memory.recordPreparedBoot('boot-1'), server, true],
  ['whose boot an earlier process prepared', () => undefined, serverWith('boot-1'), true],
  ['whose earlier boot an earlier process prepared', () => undefined, serverWith('boot-0'), false],
];
const events: [title: string, apply: (memory: ObservedSystem) => void, started: boolean][] = [
  ['was requested to start', (memory) => memory.requested('On', false, 1), true],
  ['was observed on', (memory) => observe(memory, 'On'), true],
  ['was observed starting', (memory) => observe(memory, 'PoweringOn'), true],
  ['was observed off', (memory) => observe(memory, 'Off'), false],
  ['was requested to stop', (memory) => memory.requested('Off', false, 1), false],
];
for (const [title, before, object, awaits] of machines) {
  test(`a machine ${title} ${awaits ? 'awaits its start' : 'may have been started'}`, () => {
    const memory = new ObservedSystem();
    before(memory);
    restorePreparedBoot(object, memory, [undefined, bootWith({})]);
    assert.equal(awaitsStart(memory), awaits);
  });
  for (const [what, apply, started] of events.filter(() => awaits))
    test(`a machine ${title} and that ${what} ${started ? 'has been started' : 'awaits its start'}`, () => {
      const memory = new ObservedSystem();
      before(memory);
      restorePreparedBoot(object, memory, [bootWith({})]);
      apply(memory);
      restorePreparedBoot(object, memory, [bootWith({})]);
      assert.equal(awaitsStart(memory), !started);
    });
}

const condition = (type: string) => ({ type, status: 'True', reason: type, message: '', lastTransitionTime }) as const;
const progressCases: [title: string, status: ServerBootConfiguration['status'], expected: string][] = [
  [
    'a script',
    {
      conditions: [condition('IPXEScriptFetched')],
      boot: { steps: [{ name: 'script', time: lastTransitionTime, detail: 'by ::ffff:192.0.2.66' }] },
    },
    'boot data were fetched by 192.0.2.66',
  ],
  ['ignition', { conditions: [condition('IgnitionDataFetched')] }, 'the ignition was fetched by somebody'],
  ['a boot state report', { conditions: [condition('BootStateReceived')] }, 'boot data were fetched by somebody'],
];
for (const [title, status, expected] of progressCases)
  test(`${title} does not count as boot progress while the machine awaits its start`, () => {
    const early = bootFactsOf(bootWith(status), server, Date.now(), { awaitsStart: true });
    assert.deepEqual([early.bootSeen, early.fetchedWhileOff], [false, expected]);
    const late = bootFactsOf(bootWith(status), server, Date.now());
    assert.deepEqual([late.bootSeen, late.fetchedWhileOff], [true, undefined]);
  });

test('a DHCP exchange does not count as fetched boot data', () => {
  const status = { boot: { steps: [{ name: 'dhcp', time: lastTransitionTime }] } };
  assert.equal(bootFactsOf(bootWith(status), server, 0, { awaitsStart: true }).fetchedWhileOff, undefined);
});

const fetched = { ...readyBoot, fetchedWhileOff: 'boot data were fetched by 192.0.2.66' };
const claim = { ...held, boot: fetched };
const rows: [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string][] = [
  ['a claim gets another boot configuration', 'Reserved', { claim }, 'act renewClaimBoot'],
  [
    'a claim with power Off gets another boot configuration',
    'Reserved',
    { claim: { ...claim, wantsPower: 'Off' } },
    'act renewClaimBoot',
  ],
  ['the machine is observed first', 'Reserved', { claim, powerSeenMsAgo: seconds(10) }, 'act observe'],
  [
    'a boot configuration is renewed at most once a minute',
    'Reserved',
    { claim, bootRenewedMsAgo: seconds(59) },
    'wait BootDataFetchedWhileOff',
  ],
  [
    'a boot configuration is renewed again after a minute',
    'Reserved',
    { claim, bootRenewedMsAgo: minutes(1) },
    'act renewClaimBoot',
  ],
  [
    'a provisioned machine is not affected',
    'Reserved',
    { claim: { ...claim, provisioned: true }, power: 'On' },
    'wait ClaimServed',
  ],
  ['a discovery restarts', 'Discovery', { probeBoot: fetched }, 'go Initial'],
  ['an early report does not end the discovery', 'Discovery', { probeBoot: readyBoot, report: 'early' }, 'go Initial'],
  [
    'a machine that may have been started is observed before a discovery restarts',
    'Discovery',
    { probeBoot: readyBoot, report: 'early', powerSeenMsAgo: seconds(10) },
    'act observe',
  ],
];
for (const [title, phase, facts, decided] of rows)
  test(`boot data that were fetched while the machine was off: ${title}`, () =>
    assert.equal(decide(phase, { ...calm, ...facts }), decided));

const unrecorded = { ...held, powerRecorded: false };
const starts: [title: string, facts: Partial<ServerFacts>, decided: string][] = [
  ['a first boot is recorded before the machine is started', { claim: unrecorded }, 'act recordPower'],
  [
    'a boot with networkAlways is recorded before the machine is started',
    { claim: { ...unrecorded, provisioned: true, bootPolicy: 'networkAlways' } },
    'act recordPower',
  ],
  [
    'a start from disk is recorded after it is observed',
    { claim: { ...unrecorded, provisioned: true, bootPolicy: 'safeStop' } },
    'act diskBoot',
  ],
];
for (const [title, facts, decided] of starts)
  test(`spec.power: ${title}`, () => assert.equal(decide('Reserved', { ...calm, ...facts }), decided));
