import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { startRestartingTestenv } from '@metal/testenv/operator/restarting-operator.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import {
  approve,
  availableNode,
  endMaintenance,
  maintain,
  serverNameOf,
  toolTemplate,
} from '../fixtures/maintenance-fixture.ts';

const startTestenv = testenvsOfFile();

/** The operator is killed when the Server shows each of these for the first time. */
const killPoints: readonly (readonly [name: string, isReached: (server: Server) => boolean])[] = [
  ['the server is given to the maintenance', ({ spec }) => spec.serverMaintenanceRef !== undefined],
  ['the boot is recorded', ({ status }) => status?.maintenance?.bootConfigurationUID !== undefined],
  ['the server is given to the next one', ({ spec }) => spec.serverMaintenanceRef?.name === 'next'],
  ['no maintenance has it', ({ spec, status }) => status?.state === 'Maintenance' && !spec.serverMaintenanceRef],
];

test('an operator that is killed during a window starts the image once, and the tenant gets the machine back', async () => {
  await using opened = await startRestartingTestenv(startTestenv, {
    stepMs: 100,
    flags: ['--power-polling-interval=1s'],
  });
  const { testenv, operator } = opened;
  const node = await availableNode(testenv);
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
  const starts = node.boots.length;

  const pending = [...killPoints];
  using _watch = testenv.servers.onChange(({ after }) => {
    const [next] = pending;
    if (next === undefined || after === undefined || !next[1](after)) return;
    pending.shift();
    operator.kill(next[0]);
  });
  await maintain(testenv, node, 'tool', { serverBootConfigurationTemplate: toolTemplate });
  await maintain(testenv, node, 'next', { serverPower: 'On', priority: -1 });
  await approve(testenv, claim.name);
  await testenv
    .machine(node)
    .until('runs the image', () => node.boots.length > starts && node.running?.from === 'network');
  await testenv.maintenances.named('tool').hasReason('InMaintenance');
  await endMaintenance(testenv, 'tool');
  await testenv.maintenances.named('next').hasReason('InMaintenance');
  assert.equal(node.boots.length, starts + 1, 'the image was started once');
  await endMaintenance(testenv, 'next');
  await testenv.maintenances.named('next').isGone();
  await testenv.server(node).reaches('Reserved');
  await testenv.server(node).hasReason('ClaimServed');
  await testenv.machine(node).until("runs the tenant's installed system", () => node.running?.from === 'disk');
  await operator.started;
  assert.deepEqual(pending, [], 'each kill point was reached');
  assert.equal(node.boots.length, starts + 2);
  await claim.watched.until('has no label', ({ metadata }) => metadata.labels === undefined);
  assert.equal(testenv.server(node).now?.metadata.name, serverNameOf(node));
});
