import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BIOSSettingsSet } from '@metal/api/v1alpha1/bios-settings-set.ts';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { BMCVersionSet } from '@metal/api/v1alpha1/bmc-version-set.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { Store } from '@metal/kube/cache/store.ts';
import type { OperatorCaches } from '../../caches.ts';
import { childNameOf } from './child-spec.ts';
import { biosSettingsSets, bmcVersionSets } from './set-kinds.ts';
import { targetsOf } from './targets.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const set = (name: string): BIOSSettingsSet => ({
  apiVersion,
  kind: 'BIOSSettingsSet',
  metadata: { name },
  spec: { serverSelector: {}, rollout: { topologyKey: 'rack' } },
});
const bmcSet: BMCVersionSet = {
  apiVersion,
  kind: 'BMCVersionSet',
  metadata: { name: 'fw' },
  spec: { bmcSelector: {}, rollout: { topologyKey: 'rack' } },
};

/** Each server has the BMC of its name without the suffix. */
function fleet(racks: Readonly<Record<string, string | undefined>>): OperatorCaches {
  const [servers, bmcs] = [new Store<Server>(), new Store<BMC>()];
  servers.addIndexes({ bmc: ({ spec }) => [spec.bmcRef?.name ?? ''] });
  for (const [bmc, rack] of Object.entries(racks)) {
    const labels = rack === undefined ? {} : { rack };
    const spec = { bmcSecretRef: { name: '' }, protocol: { name: 'Redfish', port: 443 } };
    bmcs.upsertIfNewer({ apiVersion, kind: 'BMC', metadata: { name: bmc }, spec });
    servers.upsertIfNewer({
      apiVersion,
      kind: 'Server',
      metadata: { name: `${bmc}-system-0`, labels },
      spec: { systemUUID: bmc, bmcRef: { name: bmc } },
    });
  }
  return { servers, bmcs } as unknown as OperatorCaches; // those that are read
}

test('targets are in the order of label, then name, and those without the label come last, for servers as for BMCs', () => {
  const caches = fleet({ node: 'r2', 'node-b': 'r2', n10: 'r1', n9: 'r1', lost: undefined });
  const expected = ['n9', 'n10', 'node-b', 'node', 'lost'];
  const names = targetsOf(biosSettingsSets, set('x'), caches).map(({ name }) => name);
  assert.deepEqual(
    names,
    expected.map((name) => `${name}-system-0`),
  );
  assert.deepEqual(
    targetsOf(bmcVersionSets, bmcSet, caches).map(({ name }) => name),
    expected,
  );
});

test('the name of an object is that of set and target, and too long a name is cut and stays unique', () => {
  assert.equal(childNameOf(biosSettingsSets, set('x'), 'node'), 'x-node');
  const long = set('x'.repeat(250));
  const [one, other] = ['node-1', 'node-2'].map((target) => childNameOf(biosSettingsSets, long, target));
  assert.equal(one?.length, 253);
  assert.match(one ?? '', /^x{243}-[0-9a-f]{9}$/);
  assert.notEqual(one, other);
  assert.equal(childNameOf(bmcVersionSets, bmcSet, 'node'), 'bmc-version-set-fw-node');
});
