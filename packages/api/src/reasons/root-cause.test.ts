import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition, KubeObject } from '@metal/kube/kinds/kind.ts';
import { findRootCause, type ObjectReader } from './root-cause.ts';

const since = '2026-01-01T12:00:00Z';
type Conditions = Readonly<Record<string, string>>;

/** An object with conditions, given as reasons by type; True if the reason follows a plus sign. */
function objectOf(path: string, spec: object, conditions: Conditions = {}, annotations = {}): KubeObject {
  const [kind = '', ...names] = path.split('/');
  const [name = '', namespace] = names.toReversed();
  const reported = Object.entries(conditions).map(
    ([type, reason]): Condition => ({
      type,
      status: reason.startsWith('+') ? 'True' : 'False',
      reason: reason.replace('+', ''),
      message: `why (since ${since})`,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }),
  );
  const object = {
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace, annotations },
    spec,
    status: { conditions: reported },
  };
  return object;
}

const claim = (reason: string, others: Conditions = {}) =>
  objectOf('ServerClaim/team/web', { serverRef: { name: 'srv' } }, { Ready: reason, ...others });
const server = (reason: string, others: Conditions = {}) =>
  objectOf(
    'Server/srv',
    {
      bmcRef: { name: 'bmc' },
      bootConfigurationRef: { namespace: 'team', name: 'web' },
      serverMaintenanceRef: { namespace: 'ops', name: 'dimm' },
      serverClaimRef: { namespace: 'team', name: 'web' },
    },
    { Ready: reason, ...others },
  );
const bmc = (reason: string, others: Conditions = {}) =>
  objectOf('BMC/bmc', { bmcSecretRef: { name: 'login' }, endpointRef: { name: 'bmc' } }, { Ready: reason, ...others });
const boot = (conditions: Conditions) => objectOf('ServerBootConfiguration/team/web', {}, conditions);
const maintenance = objectOf('ServerMaintenance/ops/dimm', {}, {}, { 'metal.ironcore.dev/reason': 'DIMM 4' });

const nameOf = ({ kind, namespace, name }: { kind: string; namespace?: string | undefined; name: string }) =>
  [kind, ...(namespace === undefined ? [] : [namespace]), name].join('/');

function readerOf(objects: readonly KubeObject[]): ObjectReader {
  const known = new Map(objects.map((object) => [nameOf({ kind: object.kind, ...object.metadata }), object]));
  return { get: (kind, ref) => known.get(nameOf({ kind, ...ref })) };
}

/** The chain from the first of the objects, as `KIND:REASON …`, and the root as `KIND:REASON`. */
function walk(objects: readonly KubeObject[]) {
  const [start] = objects;
  assert.ok(start !== undefined);
  const { chain, root, notRead } = findRootCause({ kind: start.kind, ...start.metadata }, readerOf(objects));
  const lineOf = ({ object, reason }: (typeof chain)[number]) => `${object.kind}:${reason}`;
  return { chain: chain.map(lineOf), root: root && lineOf(root), notRead: notRead.map(nameOf), finding: root };
}

const cases: [title: string, objects: KubeObject[], chain: string[], root: string | undefined, notRead?: string[]][] = [
  [
    'a bound claim is followed to its failed server',
    [claim('+Bound'), server('PowerStuck')],
    ['ServerClaim:Bound', 'Server:PowerStuck'],
    'Server:PowerStuck',
  ],
  [
    'a claim waits for a parked server',
    [claim('WaitingForReservation'), server('+Parked')],
    ['ServerClaim:WaitingForReservation', 'Server:Parked'],
    'Server:Parked',
  ],
  [
    'a claim, its server and the BMC that rejects the login; BMCSecrets are not read',
    [claim('+Bound'), server('BMCNotReady'), bmc('AuthenticationFailed')],
    ['ServerClaim:Bound', 'Server:BMCNotReady', 'BMC:AuthenticationFailed'],
    'BMC:AuthenticationFailed',
  ],
  [
    'a machine that does not boot is followed to the overdue step of its boot configuration',
    [claim('+Bound'), server('WaitingForBoot'), boot({ Ready: '+Prepared', BootOverdue: '+InitrdOverdue' })],
    ['ServerClaim:Bound', 'Server:WaitingForBoot', 'ServerBootConfiguration:InitrdOverdue'],
    'ServerBootConfiguration:InitrdOverdue',
  ],
  [
    'a boot configuration that cannot be prepared',
    [server('BootConfigurationFailed'), boot({ Ready: 'PreparationFailed' })],
    ['Server:BootConfigurationFailed', 'ServerBootConfiguration:PreparationFailed'],
    'ServerBootConfiguration:PreparationFailed',
  ],
  [
    'a server in maintenance',
    [claim('WaitingForReservation'), server('+MaintenanceServed'), maintenance],
    ['ServerClaim:WaitingForReservation', 'Server:MaintenanceServed', 'ServerMaintenance:InMaintenance'],
    'ServerMaintenance:InMaintenance',
  ],
  [
    'a BMC whose Endpoint refers back to it ends the chain',
    [bmc('EndpointNotFound'), objectOf('Endpoint/bmc', {}, { Ready: '+BMCCreated' })],
    ['BMC:EndpointNotFound', 'Endpoint:BMCCreated'],
    'BMC:EndpointNotFound',
  ],
  [
    'a server whose BMC answers by now keeps its own reason',
    [server('BMCNotReady'), bmc('+Connected', { EventsSubscribed: 'EventServiceDisabled' })],
    ['Server:BMCNotReady', 'BMC:Connected'],
    'Server:BMCNotReady',
  ],
  [
    'a resource that cannot be read is found behind a BMC that answers',
    [server('SystemUnreadable'), bmc('+Connected', { InventoryComplete: 'ResourcesUnreadable' })],
    ['Server:SystemUnreadable', 'BMC:ResourcesUnreadable'],
    'BMC:ResourcesUnreadable',
  ],
  [
    'other conditions do not hide what Ready waits for',
    [server('WaitingForPowerOff', { BootOrderApplied: 'RefusedByBMC' })],
    ['Server:WaitingForPowerOff'],
    'Server:WaitingForPowerOff',
  ],
  [
    'a claim that holds its server and is being evicted',
    [claim('+Bound', { Evicting: '+Evicting' }), server('+ClaimServed')],
    ['ServerClaim:Evicting'],
    'ServerClaim:Evicting',
  ],
  [
    'a server that may not be read is named, and the boot configuration of the claim is read instead',
    [claim('+Bound'), boot({ Ready: 'PreparationFailed' })],
    ['ServerClaim:Bound', 'ServerBootConfiguration:PreparationFailed'],
    'ServerBootConfiguration:PreparationFailed',
    ['Server/srv'],
  ],
  [
    'a BMC that may not be read is named, and the server is the root',
    [server('BMCNotReady')],
    ['Server:BMCNotReady'],
    'Server:BMCNotReady',
    ['BMC/bmc'],
  ],
  [
    'an error code ends the chain',
    [server('BMCNotReady'), bmc('UnexpectedStatus')],
    ['Server:BMCNotReady', 'BMC:UnexpectedStatus'],
    'BMC:UnexpectedStatus',
  ],
  [
    'an object that is ignored by annotation waits for a person, whatever its status says',
    [
      claim('+Bound'),
      {
        ...server('BMCNotReady'),
        metadata: { name: 'srv', annotations: { 'metal.ironcore.dev/operation': 'ignore' } },
      },
    ],
    ['ServerClaim:Bound', 'Server:Ignored'],
    'Server:Ignored',
  ],
  ['nothing waits', [claim('+Bound'), server('+ClaimServed')], ['ServerClaim:Bound', 'Server:ClaimServed'], undefined],
];

for (const [title, objects, chain, root, notRead = []] of cases) {
  test(`root cause: ${title}`, () => {
    const { finding: _, ...walked } = walk(objects);
    assert.deepEqual(walked, { chain, root, notRead });
  });
}

test('a finding has the time of its reason, and a command with the names of the object', () => {
  const { finding } = walk([server('BMCNotReady'), bmc('AuthenticationFailed')]);
  assert.deepEqual(
    { ...finding, remedy: undefined },
    {
      object: { kind: 'BMC', name: 'bmc' },
      condition: 'Ready',
      reason: 'AuthenticationFailed',
      message: 'why',
      since,
      weight: 'failed',
      actor: 'person',
      remedy: undefined,
      command: 'kubectl edit bmcsecret login',
    },
  );
});

test('a command is left out where a field that it names is empty', () => {
  const inline = objectOf('Server/srv', {}, { Ready: 'SystemUnreadable' });
  assert.equal(walk([inline]).finding?.command, undefined);
});
