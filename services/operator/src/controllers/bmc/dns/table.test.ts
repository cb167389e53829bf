import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BmcDnsFacts } from './facts.ts';
import { bmcDnsTable } from './table.ts';

const record = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
const calm: BmcDnsFacts = {
  isWanted: true,
  hasAddress: true,
  rendered: { record, text: 'a' },
  rejection: undefined,
  isApplied: true,
  dueInMs: 60_000,
};
const lines: [title: string, facts: Partial<BmcDnsFacts>, decided: string][] = [
  ['without a template there is no record', { isWanted: false }, 'rest'],
  ['a BMC without an address waits', { hasAddress: false }, 'WaitingForAddress'],
  ['a template that yields no object is reported', { rendered: { problem: 'line 1: no' } }, 'TemplateFailed'],
  ['a record that is due is written', { dueInMs: 0 }, 'apply'],
  ['a rejected record waits', { rejection: 'forbidden', isApplied: false }, 'RecordRefused'],
  ['… and is retried', { rejection: 'forbidden', isApplied: false, dueInMs: 0 }, 'apply'],
  ['a written record waits for its resync', {}, 'Applied'],
];
for (const [title, facts, decided] of lines) {
  test(title, () => {
    const decision = bmcDnsTable.Present.decide({ ...calm, ...facts });
    const { kind } = decision;
    assert.equal(kind === 'act' ? decision.action : kind === 'wait' ? decision.reason : kind, decided);
  });
}
