import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import { diskErasure } from '@metal/api/wire/erasure.ts';
import { erasedSoFar } from './progress.ts';

type Spec = ErasureReport['spec'];
type Disk = NonNullable<Spec['disks']>[number];

const disk = (name: string, result: Disk['result'], more: Partial<Disk> = {}): Disk =>
  diskErasure.parse({ name, sizeBytes: 1, result, ...more });

const report = (state: Spec['state'], disks: Disk[]): ErasureReport => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'ErasureReport',
  metadata: { name: 'one' },
  spec: {
    serverRef: { name: 'one', uid: 'u' },
    systemUUID: '',
    attempt: 1,
    mode: 'Purge',
    receivedTime: '',
    state,
    disks,
  },
});
const long = 'x'.repeat(100);

const rows: [string, ErasureReport | undefined, string][] = [
  ['no report exists', undefined, 'no disk was begun'],
  ['the report lists no disk', report('Failed', []), 'erasing has ended; no disk was begun'],
  ['the eraser runs', report('Running', [disk('sda', 'Running')]), 'the eraser is told to stop; partly erased: sda'],
  [
    'the eraser stopped',
    report('Failed', [
      disk('sdc', 'Pending'),
      disk('sda', 'Erased'),
      disk('sdb', 'Failed'),
      disk('nvme0n1', 'Failed', { continuesByItself: true }),
    ]),
    'erasing has ended; erased: sda; partly erased: sdb; still erasing by itself: nvme0n1; untouched: sdc',
  ],
  [
    'a sanitize of an earlier attempt runs',
    report('Failed', [disk('nvme0n1', 'Pending', { continuesByItself: true })]),
    'erasing has ended; still erasing by itself: nvme0n1',
  ],
  [
    'many disks are erased',
    report(
      'Succeeded',
      ['a', 'b', 'c', 'd', 'e'].map((name) => disk(name, 'Erased')),
    ),
    'erasing has ended; erased: a, b and 3 more',
  ],
  [
    'a disk has no name',
    report('Failed', [disk('', 'Pending', { serial: long })]),
    `erasing has ended; untouched: ${long.slice(0, 20)}`,
  ],
];
for (const [title, record, expected] of rows)
  test(`the summary of erased disks when ${title}`, () => assert.equal(erasedSoFar(record), expected));
