import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { SystemSummary } from '@metal/redfish/resources/systems.ts';
import { firstOf, unservedSystems } from './bmc-systems.ts';

const bmcWith = (status: 'True' | 'False' | undefined): BMC => ({
  apiVersion: '',
  kind: 'BMC',
  metadata: { name: 'bmc' },
  spec: { bmcSecretRef: { name: 'bmc' }, protocol: { name: 'Redfish', port: 443 } },
  ...(status && {
    status: { conditions: [{ type: 'SystemsAccepted', status, reason: '', message: '', lastTransitionTime: '' }] },
  }),
});
const system = (uri: string, uuid: string | undefined, noMachineBecause?: string): SystemSummary => ({
  uri,
  uuid,
  noMachineBecause,
  manufacturer: undefined,
  model: undefined,
  serialNumber: undefined,
  sku: undefined,
  biosVersion: undefined,
  memoryGiB: undefined,
  powerState: 'On',
});
const server = (systemUUID: string, systemURI: string): Server => ({
  apiVersion: '',
  kind: 'Server',
  metadata: { name: systemUUID },
  spec: { systemUUID, systemURI },
});

type Line = [
  title: string,
  systems: readonly SystemSummary[],
  status: 'True' | 'False' | undefined,
  expected: readonly string[],
  unmanaged: readonly string[],
];

const lines: Line[] = [
  ['with its Server is neither', [system('/1', 'a')], 'True', [], []],
  ['that the BMC reports for the first time gets a Server', [system('/1', 'a'), system('/2', 'b')], 'True', ['/2'], []],
  ['of a BMC without a condition yet gets a Server', [system('/2', 'b')], undefined, ['/2'], []],
  ['that the BMC controller rejects is not managed', [system('/2', 'b')], 'False', [], ['/2']],
  ['without a UUID is not managed', [system('/2', undefined)], 'True', [], ['/2']],
  ['that is the Server of another BMC is not managed here', [system('/2', 'other')], 'True', [], ['/2']],
  ['that moved is that of its Server', [system('/9', 'a')], 'True', [], []],
  ['that reports another UUID for a while is that of the Server at its URI', [system('/1', 'b')], 'False', [], []],
  ['at the former URI of a moved one is another machine', [system('/1', 'b'), system('/2', 'a')], 'True', ['/1'], []],
  [
    'whose alternative UUID has the Server is that one',
    [{ ...system('/2', 'b'), alternativeUuid: 'a' }],
    'True',
    [],
    [],
  ],
  ['that is no machine needs no Server', [system('/gpu', 'b', 'a GPU baseboard')], 'True', [], []],
];

for (const [title, systems, status, expected, unmanaged] of lines)
  test(`a system ${title}`, () => {
    const hasServer = (uuid: string): boolean => ['a', 'other'].includes(uuid);
    const found = unservedSystems(bmcWith(status), { systems, servers: [server('A', '/1')], hasServer });
    assert.deepEqual(found, { expected, unmanaged });
  });

test('of many systems the first are named', () => {
  assert.equal(firstOf(['/1', '/2']), '/1, /2');
  assert.equal(firstOf(['/1', '/2', '/3', '/4', '/5']), '/1, /2, /3 and 2 more');
});
