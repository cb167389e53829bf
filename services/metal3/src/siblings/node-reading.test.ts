import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { NotSupported } from '../provisioner/node-services.ts';
import { hostIn } from '../../test/baremetalhost/example-host.ts';
import { type NodeReadings, nextReading, readNode, type ReadingNeed, subjectOf } from './node-reading.ts';

const need: ReadingNeed = { now: 1_000, name: 'h', subject: 'one', isChanged: false, changedAt: undefined };
const last = { result: 'read', at: 1_000, subject: 'one' };
const failure = { message: 'away', at: 1_000 };

test('the first reading is due at once', () => {
  assert.equal(nextReading({ last: undefined, failure: undefined }, need).inMs, 0);
});

test('after a reading the next one follows in about five minutes, and in one minute while a change is detected', () => {
  const { inMs } = nextReading({ last, failure: undefined }, need);
  assert.ok(inMs > minutes(4) && inMs <= minutes(5));
  assert.equal(nextReading({ last, failure: undefined }, { ...need, isChanged: true }).inMs, minutes(1));
});

test('another subject and a change of the machine make a reading due', () => {
  assert.equal(nextReading({ last, failure: undefined }, { ...need, subject: 'two' }).inMs, 0);
  assert.equal(nextReading({ last, failure: undefined }, { ...need, changedAt: 1_001 }).inMs, 0);
});

test('a failure is waited for 30 s, whatever changes', () => {
  assert.deepEqual(nextReading({ last, failure }, { ...need, subject: 'two' }), { inMs: seconds(30), failure: 'away' });
  assert.equal(nextReading({ last, failure }, { ...need, now: 31_000 }).inMs, 0);
});

test('what the back end cannot do is an answer, and what may pass keeps the last answer', async () => {
  const memory: NodeReadings<string> = { last, failure: undefined };
  await readNode(memory, { at: 2_000, subject: 'one' }, () => Promise.reject(new Error('away')));
  assert.deepEqual(memory, { last, failure: { message: 'away', at: 2_000 } });
  await readNode(memory, { at: 3_000, subject: 'one' }, () => Promise.reject(new NotSupported('no BIOS')));
  assert.deepEqual(memory, {
    last: { result: new NotSupported('no BIOS'), at: 3_000, subject: 'one' },
    failure: undefined,
  });
  await assert.rejects(
    readNode(memory, { at: 4_000, subject: 'one' }, () => Promise.reject(new TypeError('defect'))),
    /defect/,
  );
});

test('an answer is about one generation and one machine', () => {
  const object = (generation: number) => ({ ...hostIn('available'), metadata: { name: 'h', generation } });
  const other = hostIn('available', { spec: { bmc: { address: 'redfish://192.0.2.8', credentialsName: 'c' } } });
  const subjects = [
    subjectOf(object(1), hostIn('available')),
    subjectOf(object(2), hostIn('available')),
    subjectOf(object(1), other),
    subjectOf(object(1), hostIn('available', { provisioning: { ID: 'other' } })),
  ];
  assert.equal(new Set(subjects).size, subjects.length);
});
