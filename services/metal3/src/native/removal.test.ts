import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import {
  detachedServerAnnotation as detached,
  formerCleanupAnnotation as former,
  hostOfServerAnnotation as hostOf,
} from '@metal/api/metal3/metal3-contract.ts';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { allowInterruptionAnnotation as allowed, operationAnnotation as operation } from '@metal/api/wire/contract.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { hostIn } from '../../test/baremetalhost/example-host.ts';
import { markOf } from './host-objects.ts';
import type { NativePass } from './native-pass.ts';
import { detachHost, removeHost } from './removal.ts';

const host = hostIn('deleting');

/** The patches of the removal of a host, or of its detachment, one of whose machines is this Server. */
async function patchesFor(server: Server, act = removeHost): Promise<unknown[]> {
  const patches: unknown[] = [];
  const servers = new Store<Server>();
  servers.upsertIfNewer(server);
  const caches = {
    hosts: new Store<BareMetalHost>(),
    bmcs: new Store<BMC>(),
    bmcSecrets: new Store<BMCSecret>(),
    servers,
    claims: new Store<ServerClaim>(),
    inventories: new Store<ServerInventory>(),
  };
  const pass = {
    access: { host },
    caches,
    parsed: { problem: 'no address' },
    client: { mergePatch: async (_kind: unknown, _ref: unknown, patch: unknown) => void patches.push(patch) },
  };
  // The members of a pass that the removal uses.
  await act(pass as unknown as NativePass);
  return patches;
}

const serverWith = (annotations: Record<string, string>): Server => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name: 's', annotations: { [hostOf]: markOf(host), ...annotations } },
  spec: { systemUUID: 'u', reclaimPolicy: 'Recycle', unclaimable: false, cleanup: { disks: 'None' } },
});
const unmarked = { [hostOf]: null, [allowed]: null };

test('a Server that survives has its former policy of cleanups back, also after a deprovisioning that was given up', async () => {
  for (const [policy, disks] of [
    ['Purge', 'Purge'],
    ['', null],
  ] as const)
    assert.deepEqual(await patchesFor(serverWith({ [former]: policy })), [
      { metadata: { annotations: { ...unmarked, [former]: null } }, spec: { cleanup: { disks } } },
    ]);
  assert.deepEqual(await patchesFor(serverWith({})), [{ metadata: { annotations: unmarked } }]);
});

test('a detachment keeps the request for an adoption that nothing has accepted yet', async () => {
  for (const [annotations, kept] of [
    [{}, 'true'],
    [{ [operation]: 'adopt' }, 'adopt'],
  ] as const)
    assert.deepEqual(await patchesFor(serverWith(annotations), detachHost), [
      { metadata: { annotations: { [operation]: 'ignore', [detached]: kept } } },
    ]);
});
