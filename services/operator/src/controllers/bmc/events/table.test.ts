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
  ['where nobody listens nothing is subscribed', { isWanted: false, links: {} }, 'rest'],
  ['a BMC that does not answer is waited for', { isReachable: false }, 'WaitingForBMC'],
  ['after a look at the BMC the subscriptions are verified', { isDue: true }, 'subscribe'],
  ['… once', {}, 'rest'],
  ['a problem is tried again at the next look', { problem, isDue: true }, 'subscribe'],
  ['… and not before', { problem }, 'rest'],
  ['where nobody listens any more, subscriptions are taken back', { isWanted: false }, 'unsubscribe'],
  ['… tried again at the next look', { isWanted: false, problem }, 'rest'],
];
for (const [title, facts, decided] of present) {
  test(`present: ${title}`, () =>
    assert.equal(formatDecision(bmcEventsTable.Present.decide({ ...calm, ...facts })), decided));
}

const leaving: [title: string, facts: Partial<BmcEventsFacts>, decided: string][] = [
  ['subscriptions are taken back', {}, 'unsubscribe'],
  ['without subscriptions nothing is waited for', { links: {} }, 'rest'],
  ['a BMC that does not listen is asked again', { problem }, 'unsubscribe'],
  ['… after a pause', { problem, lastTriedMsAgo: 1_000 }, 'BMCDeleted'],
  ['… but not for ever', { problem, inPhaseForMs: 60_000 }, 'giveUp'],
  ['a BMC of which nothing is known is not asked', { connection: undefined }, 'giveUp'],
  ['what was left behind was told', { isGivenUp: true, inPhaseForMs: 60_000 }, 'rest'],
];
for (const [title, facts, decided] of leaving) {
  test(`leaving: ${title}`, () => assert.equal(formatDecision(decideDeletion({ ...calm, ...facts })), decided));
}
