import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SubscriptionFacts } from './facts.ts';
import { decideDeletion, subscriptionTable } from './table.ts';

const fresh: SubscriptionFacts = {
  host: undefined,
  blocker: undefined,
  id: undefined,
  foreignNamespace: undefined,
  failure: undefined,
};
const blocker = { reason: 'HostMissing', message: 'no host' } as const;
const failure = { message: 'away', retryInMs: 1_000 };

type Row = [title: string, facts: Partial<SubscriptionFacts>, decided: string];

const rows: Row[] = [
  ['a subscription is created', {}, 'act subscribe'],
  ['one that was created is left alone, whatever the host does', { id: '1', blocker }, 'rest'],
  ['one without a host waits', { blocker }, 'wait HostMissing'],
  ['a Secret of another namespace is not read', { foreignNamespace: 'other' }, 'wait ForeignSecret'],
  ['a failure is waited for', { failure }, 'wait SubscriptionFailed'],
];
for (const [title, facts, decided] of rows)
  test(title, () => assert.equal(textOf(subscriptionTable.Present.decide({ ...fresh, ...facts })), decided));

const deletions: Row[] = [
  ['without a subscription nothing is removed', {}, 'rest'],
  ['the subscription is removed', { id: '1' }, 'act unsubscribe'],
  ['a missing host ends the deletion', { id: '1', blocker }, 'rest'],
  ['a paused host is left alone', { id: '1', blocker: { reason: 'HostPaused', message: '' } }, 'wait HostPaused'],
  ['a failed removal is repeated', { id: '1', failure }, 'wait RemovalFailed'],
];
for (const [title, facts, decided] of deletions)
  test(`deletion: ${title}`, () => assert.equal(textOf(decideDeletion({ ...fresh, ...facts })), decided));

function textOf(decision: ReturnType<typeof subscriptionTable.Present.decide>): string {
  if (decision.kind === 'rest') return 'rest';
  return decision.kind === 'act' ? `act ${decision.action}` : `${decision.kind} ${decision.reason}`;
}
