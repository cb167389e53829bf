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
  ['a known device gets its BMCSecret', {}, 'createSecret'],
  ['… when a discovery slot is free', { discovery: 'queued' }, 'OthersFirst'],
  ['… after it was queued', { discovery: 'notQueued' }, 'queueDiscovery'],
  ['… and then its BMC', { secret: 'present' }, 'createBmc'],
  ['… and that is all', { secret: 'present', bmc: 'present' }, 'rest'],
  ['an Endpoint without MAC address waits', { macAddress: '' }, 'MACAddressMissing'],
  ['an Endpoint without IP address waits', { ip: '' }, 'IPAddressMissing'],
  ['an unknown device waits', { device: undefined }, 'UnknownMACPrefix'],
  ['a device that is not a BMC is ignored', { device: { ...device, type: 'switch' } }, 'NotABMC'],
  ['an unknown protocol waits', { device: { ...device, protocol: 'IPMI' } }, 'UnsupportedProtocol'],
  ['a device without credentials waits', { device: { ...device, defaultCredentials: [] } }, 'NoDefaultCredentials'],
  ['… unless a BMCSecret exists', { device: { ...device, defaultCredentials: [] }, secret: 'present' }, 'createBmc'],
  ['a BMC of this name with another owner is reported', { bmc: 'foreign' }, 'NameTaken'],
  ['of duplicates only the first gets a BMC', { duplicates: { before: ['other'], after: [] } }, 'DuplicateMACAddress'],
  ['of several credentials the first is tried', { device: several }, 'tryCredential'],
  ['… then, after a pause, the next', { device: several, logins: { ...noAttempts, rejected: 1 } }, 'tryCredential'],
  [
    '… not before',
    { device: several, logins: { ...noAttempts, rejected: 1 }, nextLoginInMs: 5_000 },
    'TryingDefaultCredentials',
  ],
  [
    'an unreachable device waits',
    { device: several, logins: { ...noAttempts, failure }, nextLoginInMs: 5_000 },
    'DeviceUnreachable',
  ],
  [
    'a credential that works becomes the BMCSecret',
    { device: several, logins: { ...noAttempts, rejected: 1, accepted: 1 } },
    'createSecret',
  ],
  [
    'if all are rejected, the Endpoint waits for an administrator',
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
