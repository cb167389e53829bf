import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeskBmc, talkTo } from '../test/desk-bmc.ts';
import { readSystem, readSystems } from './systems.ts';

const sessions = '/redfish/v1/SessionService/Sessions';
const system = '/redfish/v1/Systems/1';

test('one session serves all requests and is ended with the conversation', async () => {
  await using desk = await DeskBmc.start();
  const counts: number[] = [];
  const observer = { request: () => undefined, breaker: () => undefined, sessions: (n: number) => counts.push(n) };
  {
    await using bmc = talkTo(desk, { observer });
    await Promise.all([readSystem(bmc, system), readSystem(bmc, system), readSystems(bmc)]);
    await readSystem(bmc, system);
    assert.equal(desk.tokens.size, 1);
  }
  assert.equal(desk.count(`POST ${sessions}`), 1);
  assert.equal(desk.tokens.size, 0, 'logged out');
  assert.deepEqual(counts, [1, 0]);
});
