import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RedfishError } from '@metal/redfish/errors.ts';
import { noAttempts } from './login-attempts.ts';
import type { MacPrefix } from '@metal/api/mac-prefixes.ts';
import type { EndpointFacts } from './facts.ts';
import { endpointTable } from './table.ts';

const credential = { username: 'root', password: 'calvin' };
const device: MacPrefix = {
  macPrefix: '02A0C0',
  protocol: 'Redfish',
  port: 443,
  type: 'bmc',
  defaultCredentials: [credential],
};
const several: MacPrefix = { ...device, defaultCredentials: [credential, credential, credential] };
const fresh: EndpointFacts = {
  macAddress: '02:a0:c0:00:00:01',
  ip: '192.0.2.1',
  databaseSize: 1,
  device,
  secret: 'absent',
  bmc: 'absent',
  logins: noAttempts,
  duplicates: { before: [], after: [] },
  nextLoginInMs: 0,
  discovery: 'admitted',
};
const failure = { error: new RedfishError({ code: 'Unreachable', message: 'away' }), count: 1 };

const lines: [title: string, facts: Partial<EndpointFacts>, decided: string][] = [
  ['a device that is known gets its BMCSecret', {}, 'createSecret'],
  ['… when not too many others are on their way', { discovery: 'queued' }, 'OthersFirst'],
  ['… after it took its place in the queue', { discovery: 'notQueued' }, 'queueDiscovery'],
  ['… and then its BMC', { secret: 'present' }, 'createBmc'],
  ['… and that is all', { secret: 'present', bmc: 'present' }, 'rest'],
  ['an Endpoint without MAC address waits', { macAddress: '' }, 'MACAddressMissing'],
  ['an Endpoint without IP address waits', { ip: '' }, 'IPAddressMissing'],
  ['a device that nobody knows waits', { device: undefined }, 'UnknownMACPrefix'],
  ['a device that is no BMC is left alone', { device: { ...device, type: 'switch' } }, 'NotABMC'],
  ['an unknown protocol waits', { device: { ...device, protocol: 'IPMI' } }, 'UnsupportedProtocol'],
  ['a device without credentials waits', { device: { ...device, defaultCredentials: [] } }, 'NoDefaultCredentials'],
  [
    '… unless people gave a BMCSecret',
    { device: { ...device, defaultCredentials: [] }, secret: 'present' },
    'createBmc',
  ],
  ['a BMC of the same name that is not its own is told', { bmc: 'foreign' }, 'NameTaken'],
  ['of twins only the first is acted on', { duplicates: { before: ['other'], after: [] } }, 'DuplicateMACAddress'],
  ['of several credentials the first is tried', { device: several }, 'tryCredential'],
  ['… then, after a pause, the next', { device: several, logins: { ...noAttempts, rejected: 1 } }, 'tryCredential'],
  [
    '… not before',
    { device: several, logins: { ...noAttempts, rejected: 1 }, nextLoginInMs: 5_000 },
    'TryingDefaultCredentials',
  ],
  [
    'a device that cannot be asked is waited for',
    { device: several, logins: { ...noAttempts, failure }, nextLoginInMs: 5_000 },
    'DeviceUnreachable',
  ],
  [
    'a credential that works becomes the BMCSecret',
    { device: several, logins: { ...noAttempts, rejected: 1, accepted: 1 } },
    'createSecret',
  ],
  [
    'when all are rejected a person is needed',
    { device: several, logins: { ...noAttempts, rejected: 3 } },
    'DefaultCredentialsRejected',
  ],
];
for (const [title, facts, decided] of lines) {
  test(title, () => {
    const decision = endpointTable.Present.decide({ ...fresh, ...facts });
    const { kind } = decision;
    assert.equal(kind === 'act' ? decision.action : kind === 'wait' ? decision.reason : kind, decided);
  });
}
