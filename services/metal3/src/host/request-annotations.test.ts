import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Annotations, detachRequest, rebootRequest } from './request-annotations.ts';

const one = 'reboot.metal3.io';
const soft = { mode: 'soft', isForced: false, isOneShot: false, invalid: [] };
const reboots: [annotations: Annotations, request: object | undefined][] = [
  [{}, undefined],
  [{ 'reboot.metal3.iox': '' }, undefined],
  [{ [one]: '' }, { ...soft, isOneShot: true }],
  [{ [`${one}/a`]: '' }, soft],
  [{ [`${one}/a`]: '{}' }, soft],
  [{ [`${one}/a`]: '{"mode":"hard","force":true}' }, { ...soft, mode: 'hard', isForced: true }],
  [
    { [one]: '{"mode":"soft"}', [`${one}/a`]: '{"mode":"hard"}' },
    { ...soft, mode: 'hard', isOneShot: true },
  ],
  [{ [one]: 'hard' }, { ...soft, isOneShot: true, invalid: [one] }],
  [{ [one]: '{"mode":"warm","force":true}' }, { ...soft, isOneShot: true, invalid: [one] }],
];
for (const [annotations, request] of reboots)
  test(`reboot request of ${JSON.stringify(annotations)}`, () => assert.deepEqual(rebootRequest(annotations), request));

test('of several requests only the forced ones count where that is asked', () => {
  assert.equal(rebootRequest({ [one]: '{"mode":"hard"}' }, true), undefined);
  assert.deepEqual(rebootRequest({ [one]: '{"mode":"hard"}', [`${one}/a`]: '{"force":true}' }, true), {
    ...soft,
    isForced: true,
  });
});

const plain = { deleteAction: 'delete', isForced: false, isInvalid: false };
const detaches: [text: string | undefined, request: object | undefined][] = [
  [undefined, undefined],
  ['{}', plain],
  ['', { ...plain, isInvalid: true }],
  ['true', { ...plain, isInvalid: true }],
  ['{"deleteAction":"delay","force":true}', { ...plain, deleteAction: 'delay', isForced: true }],
  ['{"deleteAction":"other"}', plain],
];
for (const [text, request] of detaches)
  test(`detach request of ${text}`, () =>
    assert.deepEqual(detachRequest(text === undefined ? {} : { 'baremetalhost.metal3.io/detached': text }), request));
