import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AlertLabelSets, kindsOfAnyBmc, maxKindsTotal, maxKindsPerBmc } from './alert-labels.ts';

const alert = (messageId: string, severity = 'OK', component = 'system') => ({
  messageId,
  severity,
  component,
  aboutState: false,
});

test('events of one kind are counted under one set of labels', () => {
  const sets = new AlertLabelSets();
  assert.deepEqual(sets.of('a', alert('X')), { hostname: 'a', severity: 'OK', message_id: 'X', component: 'system' });
  assert.equal(sets.of('a', alert('X')), sets.of('a', alert('X')));
});

test('further kinds of events of one BMC share labels, and keep their severity', () => {
  const sets = new AlertLabelSets();
  const used = new Set<object>();
  for (let index = 0; index < 10_000; index += 1)
    used.add(sets.of('a', alert(`invented-${index}`, ['OK', 'Critical', `s${index}`][index % 3])));
  assert.equal(used.size, maxKindsPerBmc + 3);
  assert.deepEqual(sets.of('a', alert('yet another', 'Critical')), {
    hostname: 'a',
    severity: 'Critical',
    message_id: 'other',
    component: 'other',
  });
  assert.equal(sets.of('a', alert('yet another', 'Fatal')).severity, 'other');
  assert.equal(sets.of('a', alert('invented-0')).message_id, 'invented-0', 'a known kind keeps its labels');
  assert.equal(sets.of('b', alert('invented-9999')).message_id, 'invented-9999', 'another BMC is not affected');
});

test('a deleted BMC releases its label sets', () => {
  const sets = new AlertLabelSets();
  sets.of('a', alert('X'));
  sets.of('a', alert('Y'));
  assert.equal(sets.forget('a').length, 2);
  assert.deepEqual(sets.forget('a'), []);
});

test('the kinds of a fleet are bounded, and each BMC keeps a few beyond that', () => {
  const sets = new AlertLabelSets();
  const invent = (bmc: string, count: number): number => {
    const used = new Set<object>();
    for (let index = 0; index < count; index += 1) used.add(sets.of(bmc, alert(`entry-${index}`)));
    return used.size;
  };
  const many = maxKindsTotal / maxKindsPerBmc;
  for (let bmc = 0; bmc < many; bmc += 1) assert.equal(invent(`bmc-${bmc}`, maxKindsPerBmc), maxKindsPerBmc);
  assert.equal(invent('late', maxKindsPerBmc), kindsOfAnyBmc + 1);
  assert.equal(invent('modest', 3), 3);
  sets.forget('bmc-0');
  assert.equal(invent('later', 100), 100, 'the released sets are available again');
});

test('long labels are truncated', () => {
  const { message_id } = new AlertLabelSets().of('a', alert('x'.repeat(5_000)));
  assert.equal(message_id.length, 128);
});
