import assert from 'node:assert/strict';
import { test } from 'node:test';
import { probeReport } from '@metal/api/wire/probe-report.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { boundClaim, calmServer, decide, readyBoot } from '../../../../test/server/table.rows.ts';
import type { ServerFacts } from '../types.ts';
import type { DeploymentFacts } from './facts.ts';

const [disk] = probeReport.parse({ storage: [{ name: 'sda', serial: 'S1', sizeBytes: 1_000 }] }).storage;
assert.ok(disk);
const time = '2026-01-01T00:00:00Z';
const toDeploy: DeploymentFacts = {
  uid: 'boot-1',
  spec: { url: 'http://images.test/os', checksum: 'a', format: 'raw' },
  image: undefined,
  target: { kind: 'found', disk },
  recorded: undefined,
  agentBoot: undefined,
  otherBootLeft: false,
  report: undefined,
  isReportEarly: false,
  noProgressForMs: 0,
  timeoutMs: minutes(30),
};
const agentBoot = { ...readyBoot, uid: 'agent-1' };
const claimBoot = { ...readyBoot, referenced: false };

/** A claimed server whose image is not on its disk. */
const claimed = (
  deployment: Partial<DeploymentFacts>,
  server: Partial<ServerFacts> = {},
  claim: Partial<typeof boundClaim> & object = {},
): ServerFacts => ({
  ...calmServer,
  claim: { ...boundClaim, boot: claimBoot, ...claim },
  deployment: { ...toDeploy, ...deployment },
  ...server,
});

const on = { power: 'On' } as const;
const failed = { state: 'Failed', reason: 'RootDeviceNotFound', message: 'none', time } as const;
const rows: [string, ServerFacts, string][] = [
  ['the agent is prepared while the machine is off', claimed({}), 'act prepareDeploymentBoot'],
  ['a running machine is powered off first', claimed({}, on), 'act powerOff'],
  [
    'an image that is not prepared is waited for',
    claimed({}, {}, { boot: { ...claimBoot, state: 'Pending' } } as object),
    'wait WaitingForBootConfiguration',
  ],
  [
    'an image that cannot be prepared is reported',
    claimed({}, {}, { boot: { ...claimBoot, state: 'Error' } } as object),
    'wait BootConfigurationFailed',
  ],
  ['another boot of the operator is cleared first', claimed({ otherBootLeft: true }), 'act clearBoot'],
  ['the agent is started from the network', claimed({ agentBoot }), 'act networkBoot'],
  ['the agent writes', claimed({ agentBoot, report: { state: 'Running', time } }, on), 'wait Deploying'],
  ['a success powers off first', claimed({ agentBoot, report: { state: 'Succeeded', time } }, on), 'act powerOff'],
  [
    'a success is recorded when the machine is off',
    claimed({ agentBoot, report: { state: 'Succeeded', time } }),
    'act recordDeployment',
  ],
  [
    'a failure is recorded when the machine is off',
    claimed({ agentBoot, report: { state: 'Failed', time } }),
    'act recordDeployment',
  ],
  ['an agent that is silent fails', claimed({ agentBoot, noProgressForMs: minutes(30) }, on), 'act powerOff'],
  [
    'hints without a disk are recorded as a failure',
    claimed({ target: { kind: 'none', reason: 'RootDeviceNotFound', message: '' } }),
    'act recordDeployment',
  ],
  ['a recorded failure leaves the machine off', claimed({ recorded: failed }), 'wait DeploymentFailed'],
  ['a machine that runs after a failure is powered off', claimed({ recorded: failed }, on), 'act powerOff'],
  [
    'a report before the start of the machine counts for nothing',
    claimed({ agentBoot, report: { state: 'Succeeded', time }, isReportEarly: true }),
    'act clearBoot',
  ],
  [
    'a claim that wants the machine off has nothing written',
    claimed({}, {}, { wantsPower: 'Off', powerRecorded: true } as object),
    'wait ClaimServed',
  ],
  [
    'a deployment is dropped when the claim wants the machine off',
    claimed({ agentBoot }, {}, { wantsPower: 'Off' } as object),
    'act clearBoot',
  ],
  ['a deployed claim adopts its boot', claimed({}, {}, { provisioned: true } as object), 'act adoptClaimBoot'],
  [
    'a deployed claim starts from its disk',
    claimed({}, {}, { provisioned: true, boot: readyBoot } as object),
    'act diskBoot',
  ],
  [
    'a claim that runs is powered off for another image',
    claimed({}, on, { reprovision: true } as object),
    'act powerOff',
  ],
  [
    'a claim that runs is left alone while another image is fetched',
    claimed({}, on, { reprovision: true, boot: { ...claimBoot, state: 'Pending' } } as object),
    'wait WaitingForBootConfiguration',
  ],
];
for (const [what, facts, expected] of rows) test(what, () => assert.equal(decide('Reserved', facts), expected));
