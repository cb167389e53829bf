import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { StubBmc, FakeClock, json, openStubClient, wallClock } from '../../test/stub-bmc.ts';
import { PriorityRequestQueue } from './priority-request-queue.ts';
import type { Priority } from './request.ts';
import { readSystem } from '../resources/systems.ts';

test('a BMC receives at most four concurrent requests', async () => {
  await using stub = await StubBmc.start();
  await using bmc = openStubClient(stub);
  await readSystem(bmc, '/redfish/v1/Systems/1');
  const held: ServerResponse[] = [];
  // Answers four at a time, so that the test ends only if four requests are admitted.
  stub.intercept = (_request, response) => {
    if (held.push(response) === 4) {
      for (const one of held.splice(0)) json(one, 200, { '@odata.id': '/redfish/v1/Systems/1' });
    }
    return true;
  };
  await Promise.all(Array.from({ length: 32 }, () => readSystem(bmc, '/redfish/v1/Systems/1')));
  stub.intercept = () => false;
  assert.equal(stub.peakInFlight, 4);
  assert.ok(stub.connections <= 5, `${stub.connections} connections`);
});

test('queued requests start in the order of their priority', async () => {
  await using stub = await StubBmc.start();
  const { promise: open, resolve } = Promise.withResolvers<void>();
  const order: string[] = [];
  stub.intercept = ({ path }, response) => {
    if (!path.startsWith('/x/')) return false;
    order.push(path.slice(3));
    void open.then(() => json(response, 204));
    return true;
  };
  await using bmc = openStubClient(stub, { limits: { inFlight: 1 } });
  await readSystem(bmc, '/redfish/v1/Systems/1');
  const call = (priority: Priority, name: string = priority) => bmc.patch(`/x/${name}`, {}, { priority });
  const calls = [
    call('telemetry', 'first'),
    call('telemetry'),
    call('inventory'),
    call('boot'),
    call('power'),
    call('power', 'power2'),
  ];
  resolve();
  await Promise.all(calls);
  assert.deepEqual(order, ['first', 'power', 'power2', 'boot', 'inventory', 'telemetry']);
});

test('an aborted request leaves the queue', async () => {
  const queue = new PriorityRequestQueue({ clock: wallClock, inFlight: 1, gapAfterPowerMs: 0 });
  const { promise: open, resolve } = Promise.withResolvers<void>();
  const abortController = new AbortController();
  const reason = new Error('changed my mind');
  const ran: string[] = [];
  const first = queue.run('power', undefined, () => open);
  const second = assert.rejects(
    queue.run('power', abortController.signal, async () => ran.push('second')),
    reason,
  );
  const third = queue.run('power', undefined, async () => ran.push('third'));
  abortController.abort(reason);
  resolve();
  await Promise.all([first, second, third]);
  assert.deepEqual(ran, ['third']);
});

test('no request starts in the configured time after a power action', async () => {
  const clock = new FakeClock();
  const queue = new PriorityRequestQueue({ clock, inFlight: 4, gapAfterPowerMs: 0 });
  queue.pause(1_000);
  let ran = false;
  const work = queue.run('power', undefined, async () => {
    ran = true;
  });
  clock.advance(999);
  assert.equal(ran, false);
  clock.advance(1);
  await work;
  assert.equal(ran, true);
});

test('a failed request frees its slot', async () => {
  const queue = new PriorityRequestQueue({ clock: wallClock, inFlight: 1, gapAfterPowerMs: 0 });
  await assert.rejects(
    queue.run('boot', undefined, () => Promise.reject(new Error('no'))),
    /no/,
  );
  assert.equal(await queue.run('boot', undefined, () => Promise.resolve(7)), 7);
});
