import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decision } from '@metal/kube/controller/decide.ts';
import { Password } from '@metal/redfish/http/bmc.ts';
import type { BmcEventsFacts } from './facts.ts';
import { bmcEventsTable, decideDeletion } from './table.ts';

const connection = {
  endpoint: { scheme: 'https', host: '192.0.2.1', port: 443 },
  username: 'admin',
  password: new Password(''),
} as const;
const calm: BmcEventsFacts = {
  isWanted: true,
  connection,
  isReachable: true,
  isDue: false,
  links: { events: '/1', metrics: '/2' },
  problem: undefined,
  isVerified: true,
  isGivenUp: false,
  lastTriedMsAgo: 60_000,
  inPhaseForMs: 0,
};
const problem = { reason: 'SubscriptionFailed', message: 'no' } as const;
const formatDecision = (decision: Decision): string =>
  decision.kind === 'act' ? decision.action : decision.kind === 'wait' ? decision.reason : decision.kind;

const present: [title: string, facts: Partial<BmcEventsFacts>, decided: string][] = [
  ['a BMC is not subscribed without an event URL', { isWanted: false, links: {} }, 'rest'],
  ['the controller waits for a BMC that does not answer', { isReachable: false }, 'WaitingForBMC'],
  ['the subscriptions are verified after an observation of the BMC', { isDue: true }, 'subscribe'],
  ['… once per observation', {}, 'rest'],
  ['a failed subscription is retried after the next observation', { problem, isDue: true }, 'subscribe'],
  ['… and not before', { problem }, 'rest'],
  ['subscriptions are deleted when the event URL is removed', { isWanted: false }, 'unsubscribe'],
  ['… retried after the next observation', { isWanted: false, problem }, 'rest'],
];
for (const [title, facts, decided] of present) {
  test(`present: ${title}`, () =>
    assert.equal(formatDecision(bmcEventsTable.Present.decide({ ...calm, ...facts })), decided));
}

const leaving: [title: string, facts: Partial<BmcEventsFacts>, decided: string][] = [
  ['subscriptions are deleted', {}, 'unsubscribe'],
  ['a BMC without subscriptions is removed at once', { links: {} }, 'rest'],
  ['a failed deletion is retried', { problem }, 'unsubscribe'],
  ['… after a pause', { problem, lastTriedMsAgo: 1_000 }, 'BMCDeleted'],
  ['… for one minute', { problem, inPhaseForMs: 60_000 }, 'giveUp'],
  ['a BMC without a known connection gets no request', { connection: undefined }, 'giveUp'],
  ['a reported leftover does not block the deletion', { isGivenUp: true, inPhaseForMs: 60_000 }, 'rest'],
];
for (const [title, facts, decided] of leaving) {
  test(`leaving: ${title}`, () => assert.equal(formatDecision(decideDeletion({ ...calm, ...facts })), decided));
}
