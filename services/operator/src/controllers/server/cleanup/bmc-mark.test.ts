import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { Store } from '@metal/kube/cache/store.ts';
import type { SystemState } from '@metal/redfish/resources/systems.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import type { ServerReconcile } from '../machine.ts';
import { isMarkedAtBmc } from './bmc-mark.ts';
import { removeBmcMark, writeBmcMark } from './records.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const since = '2026-01-01T00:00:00.000Z';
const serial = 'aaaaaaaa-0000-5000-8000-000000000000';
/** Of the nodes 1 and 2, which have the serial number. */
const places = { 1: '11111111-0000-5000-8000-000000000000', 2: '22222222-0000-5000-8000-000000000000' } as const;
type Node = keyof typeof places;

type Memory = Pick<ObservedSystem, 'state'>;
const unobserved: Memory = { state: undefined };
/** As a system is read alone. */
const seen = (node: Node): Memory => ({
  state: { at: 0, value: { uuid: serial, alternativeUuid: places[node] } as SystemState },
});

const serverOf = (systemUUID: string, annotations?: Record<string, string>): Server => ({
  apiVersion,
  kind: 'Server',
  metadata: { name: 'one', uid: 'one', ...(annotations === undefined ? {} : { annotations }) },
  spec: { systemUUID, bmcRef: { name: 'bmc' } },
  status: { state: 'Cleanup', cleanup: { neededSince: since } },
});
/** As discovery creates it. */
const alone = (node: Node): Server =>
  serverOf(serial, {
    'metal.ironcore.dev/identity-derived-from': 'manufacturer and serial number',
    'metal.ironcore.dev/alternative-uuid': places[node],
  });
const withUri = (node: Node): Server =>
  serverOf(places[node], {
    'metal.ironcore.dev/identity-derived-from': 'manufacturer, serial number and system URI',
    'metal.ironcore.dev/alternative-uuid': serial,
  });

/** A BMC object whose annotations are patched. */
function openBmc() {
  const bmcs = new Store<BMC>();
  const marks: Record<string, string> = {};
  let version = 0;
  const patch = (changes: Record<string, string | null>): void => {
    for (const [key, value] of Object.entries(changes)) {
      if (value === null) delete marks[key];
      else marks[key] = value;
    }
    const spec = { bmcSecretRef: { name: 'bmc' }, protocol: { name: 'Redfish', port: 443 } } as const;
    const metadata = { name: 'bmc', uid: 'bmc', resourceVersion: String((version += 1)), annotations: { ...marks } };
    bmcs.upsertIfNewer({ apiVersion, kind: 'BMC', metadata, spec });
  };
  patch({});
  const reconcileOf = (object: Server, memory: Memory): ServerReconcile =>
    // The actions use nothing else.
    ({
      object,
      facts: { cleanup: { needed: true } },
      context: {
        caches: { bmcs },
        bmcConnections: { observedSystem: () => memory },
        client: {
          mergePatch: async (_kind: unknown, _ref: unknown, { metadata }: { metadata: BMC['metadata'] }) =>
            patch(metadata.annotations ?? {}),
        },
      },
    }) as unknown as ServerReconcile;
  return {
    marks: () => Object.keys(marks),
    deleteUnclean: (server: Server, memory = unobserved) => writeBmcMark(reconcileOf(server, memory)),
    clean: (server: Server, memory = unobserved) => removeBmcMark(reconcileOf(server, memory)),
    isMarked: (server: Server, memory = unobserved) => isMarkedAtBmc(server, memory, bmcs),
  };
}

const cases: [title: string, before: [Server, Memory], next: [Server, Memory]][] = [
  ['the UUID with its URI', [alone(1), unobserved], [withUri(1), unobserved]],
  ['the UUID without its URI', [withUri(1), unobserved], [alone(1), unobserved]],
  ['the same UUID', [alone(1), unobserved], [alone(1), unobserved]],
  ['the UUID with its URI, without annotations', [serverOf(serial), seen(1)], [serverOf(places[1]), seen(1)]],
  ['the UUID without its URI, without annotations', [serverOf(places[1]), unobserved], [serverOf(serial), seen(1)]],
];
for (const [title, before, next] of cases)
  test(`the next Server finds the mark of its machine, and removes it: ${title}`, async () => {
    const bmc = openBmc();
    assert.equal(await bmc.deleteUnclean(...before), true);
    assert.ok(bmc.isMarked(...next));
    await bmc.clean(...next);
    assert.ok(!bmc.isMarked(...before) && !bmc.isMarked(...next));
  });

for (const before of [alone(1), withUri(1)])
  test(`the mark of a machine under ${before.spec.systemUUID} is not that of another with its serial number`, async () => {
    const bmc = openBmc();
    await bmc.deleteUnclean(before);
    assert.ok(!bmc.isMarked(withUri(2)));
    await bmc.clean(withUri(2));
    assert.ok(bmc.isMarked(withUri(1)), 'a cleanup of the other machine leaves it');
  });

test('no mark is left of a cleaned machine whose Server got the other UUID', async () => {
  const bmc = openBmc();
  await bmc.deleteUnclean(alone(1));
  assert.equal(bmc.marks().length, 2);
  await bmc.clean(withUri(1));
  assert.deepEqual(bmc.marks(), []);
});

test('what another machine reports at the URI does not count', async () => {
  const bmc = openBmc();
  await bmc.deleteUnclean(serverOf('33333333-0000-4000-8000-000000000000'), seen(1));
  assert.ok(!bmc.isMarked(alone(1)));
});
