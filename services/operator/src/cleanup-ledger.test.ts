import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { cleanupAdmittedAnnotation } from '@metal/api/wire/contract.ts';
import { minutes } from '@metal/kube/decide.ts';
import { dice } from '@metal/kube/seeded-random.ts';
import { Store } from '@metal/kube/store.ts';
import { admissionOf, CleanupLedger, isLetIn, isWaiting, type Standing } from './cleanup-ledger.ts';

const hourMs = minutes(60);
const epoch = Date.UTC(2026, 0, 1);
const at = (minute: number): string => new Date(epoch + minutes(minute)).toISOString();

/** Counts through the fleet, as one would by hand. */
function countedByHand(server: Server, servers: Store<Server>, taken: ReadonlySet<string>, now: number): Standing {
  const { uid } = server.metadata;
  const others = [...servers.all()].filter((one) => one.status?.state === 'Cleanup' && one.metadata.uid !== uid);
  const attemptOf = ({ status }: Server) => status?.cleanup?.attempt ?? 0;
  const runs = (one: Server) => attemptOf(one) > 0 || isLetIn(one) || taken.has(one.metadata.uid ?? '');
  const placeOf = ({ status, metadata }: Server) => [status?.cleanup?.neededSince ?? '', metadata.name].join(' ');
  const isAgain = (server.status?.cleanup?.failedAttempts ?? 0) > 0;
  const starts = [...servers.all()]
    .filter(({ metadata }) => !isAgain || metadata.uid !== uid)
    .map(({ status }) => Date.parse(status?.cleanup?.startedTime ?? ''))
    .filter((start) => start > now - hourMs);
  return {
    ahead: others.filter((one) => isWaiting(one) && !runs(one) && placeOf(one) < placeOf(server)).length,
    running: others.filter(runs).length,
    startedInHour: starts.length + others.filter((one) => runs(one) && attemptOf(one) === 0).length,
    hourFreesInMs: starts.length === 0 ? hourMs : Math.max(0, Math.min(...starts) + hourMs - now),
  };
}

for (let seed = 1; seed <= 20; seed += 1) {
  test(`the ledger says what counting through the fleet says, whatever happens to it: seed ${seed}`, () => {
    const roll = dice(seed);
    const servers = new Store<Server>();
    using ledger = new CleanupLedger(servers);
    const taken = new Set<string>();
    for (let step = 0, version = 1; step < 300; step += 1, version += 1) {
      const minute = Math.floor(step / 2);
      const name = `server-${roll(12)}`;
      const known = servers.get(name);
      const deed = roll(20);
      if (deed === 0 && known !== undefined) {
        servers.remove(known);
        taken.delete(known.metadata.uid ?? '');
      } else if (deed < 4 && known?.status?.state === 'Cleanup' && known.status.cleanup?.attempt === 0) {
        ledger.take(known);
        taken.add(known.metadata.uid ?? '');
      } else if (deed === 4 && known !== undefined) {
        ledger.giveBack(known);
        taken.delete(known.metadata.uid ?? '');
      } else {
        const server = madeUp(name, known?.metadata.uid ?? `uid-${version}`, { roll, minute, version });
        servers.absorb(server);
        const isOver = server.status?.state !== 'Cleanup' || (server.status.cleanup?.attempt ?? 0) > 0;
        if (isOver) taken.delete(server.metadata.uid ?? '');
      }
      const now = epoch + minutes(minute);
      for (const server of servers.all())
        if (server.status?.state === 'Cleanup')
          assert.deepEqual(
            ledger.standingOf(server, now),
            countedByHand(server, servers, taken, now),
            `step ${step}, ${server.metadata.name}`,
          );
    }
  });
}

function madeUp(
  name: string,
  uid: string,
  { roll, minute, version }: { roll: (limit: number) => number; minute: number; version: number },
): Server {
  const cleanup = {
    neededSince: at(roll(5)),
    attempt: roll(3) === 0 ? 1 : 0,
    failedAttempts: roll(4) === 0 ? 1 : 0,
    ...(roll(2) === 0 ? { queuedSince: at(minute) } : {}),
    ...(roll(3) === 0 ? { startedTime: at(Math.max(0, minute - roll(80))) } : {}),
  };
  const status = { state: roll(4) === 0 ? ('Available' as const) : ('Cleanup' as const), cleanup };
  const server: Server = {
    apiVersion: 'metal.ironcore.dev/v1alpha1',
    kind: 'Server',
    metadata: { name, uid, resourceVersion: String(version) },
    spec: { systemUUID: name, reclaimPolicy: 'Recycle', unclaimable: false },
    status,
  };
  if (roll(5) > 0) return server;
  return {
    ...server,
    metadata: { ...server.metadata, annotations: { [cleanupAdmittedAnnotation]: admissionOf(server) } },
  };
}

test('those who wait are named in the order of the queue, who is let in or taken no more, and who is given back again', () => {
  const servers = new Store<Server>();
  using ledger = new CleanupLedger(servers);
  const put = (name: string, neededSince: string, attempt: number, version: number) => {
    const status = { state: 'Cleanup' as const, cleanup: { neededSince, queuedSince: at(9), attempt } };
    const server = madeUp(name, name, { roll: () => 1, minute: 0, version });
    const made = { ...server, metadata: { name, uid: name, resourceVersion: String(version) }, status };
    servers.absorb(made);
    return made;
  };
  put('b', at(2), 0, 1);
  put('c', at(1), 0, 2);
  put('a', at(2), 0, 3);
  assert.deepEqual(ledger.first(2), ['c', 'a']);
  put('c', at(1), 1, 4);
  assert.deepEqual(ledger.first(5), ['a', 'b']);
  const last = put('d', at(3), 0, 5);
  ledger.take(last);
  assert.deepEqual(ledger.first(5), ['a', 'b']);
  ledger.giveBack(last);
  assert.deepEqual(ledger.first(5), ['a', 'b', 'd']);
});
