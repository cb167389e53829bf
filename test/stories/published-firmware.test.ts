import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BIOSAttributeRegistry } from '@metal/api/v1alpha1/bios-attribute-registry.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();
const flags = ['--server-resync-interval=2m', '--bmc-resync-interval=5m'];
/** A reading is due after up to half an hour. */
const speed = 200;

const isRead = ({ status }: ServerInventory): boolean => status?.firmware !== undefined;

test('firmware and BIOS attributes of a server are published after its discovery, and again after a new BIOS version', async () => {
  await using testenv = await startTestenv({ flags, speed });
  const nodes = await testenv.addNodes({ generic: 1, dell: 2 });
  await testenv.plugIn(...nodes);
  const requestsOf = (node: (typeof nodes)[number]) =>
    node.bmc.requests.filter(({ path }) => /FirmwareInventory|Registries|\/Bios|UpdateService/i.test(path)).length;
  for (const node of nodes) await testenv.server(node).hasReason('Available');
  assert.deepEqual(nodes.map(requestsOf), [0, 0, 0], 'nothing is read during the bring-up');

  const read = await Promise.all(nodes.map((node) => testenv.inventoryOf(node).until('firmware is published', isRead)));
  for (const [at, { status }] of read.entries()) {
    const isVersionKnown = (server: Server) =>
      server.status?.biosVersion !== undefined && server.status.bmcVersion !== undefined;
    const server = await testenv.server(nodes[at] ?? assert.fail()).until('has its versions', isVersionKnown);
    const { biosVersion = '', bmcVersion } = server.status ?? {};
    assert.deepEqual([status?.firmware?.biosVersion, status?.firmware?.bmcVersion], [biosVersion, bmcVersion]);
    const versions = status?.firmware?.components.map(({ version }) => version);
    assert.ok(versions?.includes(biosVersion));
    assert.ok(Object.keys(status?.bios?.attributes ?? {}).length > 0);
    assert.doesNotMatch(Object.keys(status?.bios?.attributes ?? {}).join(), /password/i);
  }
  assert.ok(nodes.every((node) => requestsOf(node) <= 40));
  const [generic, ...dells] = read.map(({ status }) => status?.bios?.registry);
  assert.equal(dells[0], dells[1]);
  const { items } = await testenv.client.list(BIOSAttributeRegistry);
  assert.deepEqual(new Set(items.map(({ metadata }) => metadata.name)), new Set([generic, dells[0]]));

  const [node] = nodes;
  assert.ok(node);
  node.machine.biosVersion = '9.9';
  await testenv
    .inventoryOf(node)
    .until('the new version is published', ({ status }) => status?.firmware?.biosVersion === '9.9');
  await testenv.server(node).until('has the new version', ({ status }) => status?.biosVersion === '9.9');
});
