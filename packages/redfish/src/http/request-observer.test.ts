import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, json, openStubClient } from '../../test/stub-bmc.ts';
import type { BmcObserver } from './request-observer.ts';
import { readSystem } from '../resources/systems.ts';

const system = '/redfish/v1/Systems/1';

test('an observer receives the start and the end of each request, with its error', async () => {
  await using stub = await StubBmc.start();
  const events: string[] = [];
  let inFlight = 0;
  const observer: BmcObserver = {
    requestStarted: () => (inFlight += 1),
    request: ({ method, path, status, error }) => {
      inFlight -= 1;
      if (path === system) events.push(`${method} ${status ?? 'no answer'} ${error ?? 'fine'}`);
    },
    sessions: () => undefined,
    breaker: () => undefined,
  };
  await using bmc = openStubClient(stub, { observer });
  await readSystem(bmc, system);
  stub.intercept = ({ path }, response) => {
    if (path !== system) return false;
    json(response, 403, {});
    return true;
  };
  await assert.rejects(readSystem(bmc, system), { code: 'Forbidden' });
  stub.intercept = ({ path }, response) => {
    if (path !== system) return false;
    response.destroy();
    return true;
  };
  await assert.rejects(readSystem(bmc, system), { code: 'Unreachable' });
  assert.deepEqual(new Set(events), new Set(['GET 200 fine', 'GET 403 Forbidden', 'GET no answer Unreachable']));
  assert.equal(inFlight, 0, 'every started request has ended');
});
