import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { restorePreparedBoot } from '../memory.ts';
import { awaitsStart, bootFactsOf } from './configuration-facts.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import { calmServer as calm, decide, boundClaim as held, readyBoot } from '../table.rows.ts';

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
  memory.record({ powerState } as Parameters<typeof memory.record>[0], 1); // only the power is of interest

const serverWith = (pendingBootUID: string): Server => ({ ...server, status: { pendingBootUID } });
const machines: [title: string, before: (memory: ObservedSystem) => void, object: Server, awaits: boolean][] = [
  ['that nothing is known of', () => undefined, server, false],
  ['whose boot was prepared', (memory) => memory.recordPreparedBoot('boot-1'), server, true],
  ['whose boot an earlier process prepared', () => undefined, serverWith('boot-1'), true],
  ['whose earlier boot an earlier process prepared', () => undefined, serverWith('boot-0'), false],
];
const events: [title: string, apply: (memory: ObservedSystem) => void, started: boolean][] = [
  ['was asked to start', (memory) => memory.requested('On', false, 1), true],
  ['was seen on', (memory) => observe(memory, 'On'), true],
  ['was seen starting', (memory) => observe(memory, 'PoweringOn'), true],
  ['was seen off', (memory) => observe(memory, 'Off'), false],
  ['was asked to stop', (memory) => memory.requested('Off', false, 1), false],
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
  [
    'a system that says it is up',
    { conditions: [condition('BootStateReceived')] },
    'boot data were fetched by somebody',
  ],
];
for (const [title, status, expected] of progressCases)
  test(`${title} is no evidence of a boot while the machine awaits its start`, () => {
    const early = bootFactsOf(bootWith(status), server, Date.now(), { awaitsStart: true });
    assert.deepEqual([early.bootSeen, early.fetchedWhileOff], [false, expected]);
    const late = bootFactsOf(bootWith(status), server, Date.now());
    assert.deepEqual([late.bootSeen, late.fetchedWhileOff], [true, undefined]);
  });

test('that DHCP saw the machine gives nobody its token', () => {
  const status = { boot: { steps: [{ name: 'dhcp', time: lastTransitionTime }] } };
  assert.equal(bootFactsOf(bootWith(status), server, 0, { awaitsStart: true }).fetchedWhileOff, undefined);
});

const fetched = { ...readyBoot, fetchedWhileOff: 'boot data were fetched by 192.0.2.66' };
const claim = { ...held, boot: fetched };
const rows: [title: string, phase: ServerPhase, facts: Partial<ServerFacts>, decided: string][] = [
  ['a claim gets another boot', 'Reserved', { claim }, 'act renewClaimBoot'],
  ['also one that wants its machine off', 'Reserved', { claim: { ...claim, wantsPower: 'Off' } }, 'act renewClaimBoot'],
  ['after a young look', 'Reserved', { claim, powerSeenMsAgo: seconds(10) }, 'act observe'],
  ['at most once a minute', 'Reserved', { claim, bootRenewedMsAgo: seconds(59) }, 'wait BootDataFetchedWhileOff'],
  ['and again after that', 'Reserved', { claim, bootRenewedMsAgo: minutes(1) }, 'act renewClaimBoot'],
  [
    'what was installed runs on',
    'Reserved',
    { claim: { ...claim, provisioned: true }, power: 'On' },
    'wait ClaimServed',
  ],
  ['a discovery begins anew', 'Discovery', { probeBoot: fetched }, 'go Initial'],
  ['a report ends no discovery', 'Discovery', { probeBoot: readyBoot, report: 'early' }, 'go Initial'],
  [
    'a machine that somebody may have started is looked at first',
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
  ['a first boot is written down before the machine is started', { claim: unrecorded }, 'act recordPower'],
  [
    'so is a boot from the network each time',
    { claim: { ...unrecorded, provisioned: true, bootPolicy: 'networkAlways' } },
    'act recordPower',
  ],
  [
    'a start from disk is written down when it is seen, which tells a loss of power from it',
    { claim: { ...unrecorded, provisioned: true, bootPolicy: 'safeStop' } },
    'act diskBoot',
  ],
];
for (const [title, facts, decided] of starts)
  test(`spec.power: ${title}`, () => assert.equal(decide('Reserved', { ...calm, ...facts }), decided));
