import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DataImageFacts } from './facts.ts';
import { dataImageTable, decideDeletion } from './table.ts';

const calm: DataImageFacts = {
  host: undefined,
  blocker: undefined,
  isOwned: true,
  drive: 'unread',
  nextReadInMs: 0,
  failure: undefined,
};
const blockedBy = (reason: 'HostMissing' | 'HostPaused' | 'HostDetached') => ({ blocker: { reason, message: '' } });

type Row = [title: string, facts: Partial<DataImageFacts>, decided: string];

const rows: Row[] = [
  ['an image gets its host as owner', { isOwned: false }, 'act makeOwner'],
  ['an owned image is left to its host', {}, 'rest'],
  ['an image without a host waits', { isOwned: false, ...blockedBy('HostMissing') }, 'wait HostMissing'],
  ['the image of a paused host is left alone', { isOwned: false, ...blockedBy('HostPaused') }, 'wait HostPaused'],
  ['a detached host is looked at again', blockedBy('HostDetached'), 'wait HostDetached'],
];
for (const [title, facts, decided] of rows)
  test(title, () => assert.equal(textOf(dataImageTable.Present.decide({ ...calm, ...facts })), decided));

const deletions: Row[] = [
  ['the drive is read', {}, 'act readDrive'],
  ['an image in the drive stays', { drive: 'attached', nextReadInMs: 60_000 }, 'wait StillAttached'],
  ['one that is not in the drive goes', { drive: 'empty' }, 'rest'],
  ['a drive that cannot be read is waited for', { nextReadInMs: 30_000, failure: 'away' }, 'wait DriveUnreadable'],
  ['a missing host ends the deletion', blockedBy('HostMissing'), 'rest'],
  ['a detached host ends the deletion', blockedBy('HostDetached'), 'rest'],
  ['a paused host is left alone', blockedBy('HostPaused'), 'wait HostPaused'],
];
for (const [title, facts, decided] of deletions)
  test(`deletion: ${title}`, () => assert.equal(textOf(decideDeletion({ ...calm, ...facts })), decided));

function textOf(decision: ReturnType<typeof dataImageTable.Present.decide>): string {
  if (decision.kind === 'rest') return 'rest';
  return decision.kind === 'act' ? `act ${decision.action}` : `${decision.kind} ${decision.reason}`;
}
