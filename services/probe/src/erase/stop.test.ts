import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DiskErasure, ErasureOrder } from '@metal/api/wire/erasure.ts';
import type { RunProgram } from '../environment.ts';
import type { DiskFacts } from './disk-facts.ts';
import { eraseDisk } from './erase-disk.ts';
import { testDisk } from '../../test/erase-disk.rows.ts';

const mebibyte = 1_048_576;

/** Output of tools by verb. */
const answers: Record<string, string> = {
  'id-ctrl': 'oacs : 0x2\nsanicap : 0x3\nfna : 0x4\n',
  'sanitize-log': '(SPROG) : 65535\n(SSTAT) : 0x0\n',
  '-I': 'Security: \n\t\tsupported\n\tnot\tenabled\n\tnot\tlocked\n\tnot\tfrozen\n',
};

interface Stopped {
  readonly mode: ErasureOrder['mode'];
  readonly commands?: DiskFacts['commands'];
  /** The call in progress at the stop, or the number of completed writes. */
  readonly at: string | number;
  readonly sanitizeRuns?: boolean;
}

/** Erases one disk and stops the agent in between. */
async function stopAt({ mode, commands = 'none', at, sanitizeRuns = false }: Stopped) {
  const stop = new AbortController();
  const record: Partial<DiskErasure> = {};
  const note = (change: Partial<DiskErasure>) => void Object.assign(record, change);
  const calls: string[] = [];
  let writes = 0;
  let isSanitizing = sanitizeRuns;
  const run: RunProgram = async (_, parameters, signal) => {
    const verb =
      parameters.find(
        (parameter) => parameter in answers || parameter.startsWith('--sec') || parameter === 'sanitize',
      ) ?? '';
    calls.push(verb);
    if (verb === 'sanitize') isSanitizing = true;
    if (at === verb) stop.abort(new Error('stopped'));
    signal.throwIfAborted();
    if (verb === 'sanitize-log' && isSanitizing) return '(SPROG) : 32768\n(SSTAT) : 0x2\n';
    return answers[verb] ?? '';
  };
  const write = async () => {
    writes += 1;
    if (writes === at) stop.abort(new Error('stopped'));
  };
  const device = { write, read: async () => {}, flush: async () => {}, [Symbol.asyncDispose]: async () => {} };
  const work = {
    disk: { ...testDisk, commands },
    path: '/dev/sda',
    siblings: [],
    clock: { now: () => Date.UTC(2026, 0, 1), sleep: async () => stop.abort(new Error('stopped')) },
    run,
    signal: stop.signal,
    open: async () => device,
    reportProgress: note,
  };
  if (at === 0) stop.abort(new Error('stopped'));
  await assert.rejects(eraseDisk({ mode, seed: '', record: note, work }), /stopped/);
  return { record, calls, writes };
}

const untouched = { result: 'Pending', method: undefined } as const;
const stopped = { result: 'Failed', message: 'stopped before completion' } as const;

const rows: [string, Stopped, Partial<DiskErasure>][] = [
  ['before the start', { mode: 'Clear', at: 0 }, {}],
  ['during an overwrite', { mode: 'Clear', at: 2 }, { ...stopped, erasedBytes: 8 * mebibyte }],
  ['while the Identify data is read', { mode: 'Purge', commands: 'nvme', at: 'id-ctrl' }, untouched],
  [
    'while waiting for the sanitize of an earlier attempt',
    { mode: 'Purge', commands: 'nvme', at: 'sleep', sanitizeRuns: true },
    { ...untouched, continuesByItself: true },
  ],
  ['during a sanitize', { mode: 'Purge', commands: 'nvme', at: 'sleep' }, { ...stopped, continuesByItself: true }],
  [
    'during a secure erase',
    { mode: 'Purge', commands: 'ata', at: '--security-erase' },
    { ...stopped, continuesByItself: true },
  ],
];

for (const [title, at, expected] of rows)
  test(`the record of a disk is correct after a stop ${title}`, async () => {
    const { record, writes } = await stopAt(at);
    assert.deepEqual({ ...record, ...expected }, record);
    assert.equal(record.continuesByItself, expected.continuesByItself);
    if (typeof at.at === 'number') assert.equal(writes, at.at, 'nothing is written after the stop');
  });

test('the password of a SATA disk is removed after a stop before the erase was sent', async () => {
  const { record, calls } = await stopAt({ mode: 'Purge', commands: 'ata', at: '--security-set-pass' });
  assert.deepEqual(calls.slice(-2), ['--security-set-pass', '--security-disable']);
  assert.equal(record.continuesByItself, undefined);
});
