import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { diffStatus } from '@metal/kube/controller/status-diff.ts';
import { reportServer, serverProgressFields } from './report.ts';
import { calmServer } from '../../../test/server/table.rows.ts';

const noon = '2026-01-01T12:00:00Z';
const identity = { apiVersion: 'metal.ironcore.dev/v1alpha1', kind: 'Server', metadata: { name: 'a' } } as const;
const initial: Server = { ...identity, spec: { systemUUID: 'a' }, status: {} };

type Outcome = Parameters<typeof reportServer>[2];
const waits = (phase: Outcome['phase'], reason: string): Outcome => ({
  phase,
  phaseSince: noon,
  at: noon,
  decision: { kind: 'wait', reason },
});

/** The server after a write of its report, and whether there was something to write. */
function after(server: Server, outcome: Outcome, power: 'On' | 'Off' = 'Off'): { server: Server; isWritten: boolean } {
  const report = reportServer(server, { ...calmServer, power }, outcome);
  const diff = diffStatus(server, report, [], Date.parse(noon));
  return diff === undefined
    ? { server, isWritten: false }
    : { server: { ...server, status: diff.status }, isWritten: true };
}

const historyOf = ({ status }: Server): string[] =>
  (status?.history ?? []).map(({ state, reason, power }) => `${state} ${reason} ${power}`);

test('each change of state, reason or power is one entry of the history, with its time', () => {
  let { server } = after(initial, waits('Initial', 'NotYetSeen'));
  ({ server } = after(server, waits('Discovery', 'NotYetSeen')));
  ({ server } = after(server, waits('Discovery', 'WaitingForProbe')));
  ({ server } = after(server, waits('Discovery', 'WaitingForProbe'), 'On'));
  assert.deepEqual(historyOf(server), [
    'Initial NotYetSeen Off',
    'Discovery NotYetSeen Off',
    'Discovery WaitingForProbe Off',
    'Discovery WaitingForProbe On',
  ]);
  assert.equal(server.status?.history?.[0]?.time, noon);
});

test('the history has ten entries, the newest last', () => {
  let server = initial;
  for (const number of Array.from({ length: 12 }).keys())
    ({ server } = after(server, waits('Initial', `Reason${number}`)));
  assert.equal(historyOf(server).length, 10);
  assert.equal(historyOf(server).at(-1), 'Initial Reason11 Off');
});

test('the history never causes a write: neither when nothing changes, nor on a server that has none yet', () => {
  const { server } = after(initial, waits('Available', 'Available'));
  assert.equal(after(server, waits('Available', 'Available')).isWritten, false);
  const { history: _, ...withoutHistory } = server.status ?? {};
  assert.equal(after({ ...server, status: withoutHistory }, waits('Available', 'Available')).isWritten, false);
});

test('the history of a wait that follows another is written as late as its condition', () => {
  const { server } = after(initial, waits('Reserved', 'WaitingForPowerOn'));
  const report = reportServer(server, { ...calmServer, power: 'On' }, waits('Reserved', 'WaitingForBoot'));
  const { changedFields = [] } = diffStatus(server, report, [], Date.parse(noon)) ?? {};
  assert.ok(changedFields.includes('history'));
  assert.deepEqual(
    changedFields.filter((field) => !serverProgressFields.includes(field)),
    [],
  );
});
