import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { type ArtefactRequest, fileArtefact, planOf, urlArtefact } from './artefact.ts';

const all: Omit<ArtefactRequest, 'signal'> = {
  method: 'GET',
  range: undefined,
  ifRange: undefined,
  ifNoneMatch: undefined,
};

type Row = [string, Partial<ArtefactRequest>, { status: number; span: [number, number] | undefined; range?: string }];
const rows: Row[] = [
  ['everything', {}, { status: 200, span: [0, 99] }],
  ['only the head', { method: 'HEAD' }, { status: 200, span: undefined }],
  ['a part', { range: 'bytes=10-19' }, { status: 206, span: [10, 19], range: 'bytes 10-19/100' }],
  ['the rest', { range: 'bytes=90-' }, { status: 206, span: [90, 99], range: 'bytes 90-99/100' }],
  ['the end', { range: 'bytes=-5' }, { status: 206, span: [95, 99], range: 'bytes 95-99/100' }],
  ['more than there is', { range: 'bytes=90-500' }, { status: 206, span: [90, 99], range: 'bytes 90-99/100' }],
  ['what lies outside', { range: 'bytes=100-' }, { status: 416, span: undefined, range: 'bytes */100' }],
  ['several parts', { range: 'bytes=0-1,5-6' }, { status: 200, span: [0, 99] }],
  ['the same parts a thousand times', { range: `bytes=${'0-,'.repeat(999)}0-` }, { status: 200, span: [0, 99] }],
  ['a part that ends before it begins', { range: 'bytes=5-3' }, { status: 200, span: [0, 99] }],
  ['the last nothing', { range: 'bytes=-0' }, { status: 416, span: undefined, range: 'bytes */100' }],
  [
    'a part beyond all numbers',
    { range: `bytes=${'9'.repeat(400)}-` },
    { status: 416, span: undefined, range: 'bytes */100' },
  ],
  [
    'more of the end than there is',
    { range: `bytes=-${'9'.repeat(400)}` },
    { status: 206, span: [0, 99], range: 'bytes 0-99/100' },
  ],
  ['the head of a part', { method: 'HEAD', range: 'bytes=10-19' }, { status: 200, span: undefined }],
  ['rubbish', { range: 'lines=1-2' }, { status: 200, span: [0, 99] }],
  [
    'a part of the same version',
    { range: 'bytes=0-1', ifRange: '"v1"' },
    { status: 206, span: [0, 1], range: 'bytes 0-1/100' },
  ],
  ['a part of another version', { range: 'bytes=0-1', ifRange: '"v0"' }, { status: 200, span: [0, 99] }],
  ['what it has already', { ifNoneMatch: '"v0", "v1"' }, { status: 304, span: undefined }],
];
for (const [title, request, expected] of rows) {
  test(`a request for ${title} gets ${expected.status}`, () => {
    const plan = planOf({ ...all, ...request }, 100, '"v1"');
    assert.equal(plan.status, expected.status);
    assert.deepEqual(plan.span && [plan.span.first, plan.span.last], expected.span);
    assert.equal(plan.headers['content-range'], expected.range);
  });
}

const signal = new AbortController().signal;

const relayed: [string, Partial<ArtefactRequest>, string | null][] = [
  ['a single range is passed on', { range: 'bytes=1-2' }, 'bytes=1-2'],
  ['several ranges are requested as the whole file', { range: 'bytes=0-,0-,0-' }, null],
  ['a HEAD request has no range', { method: 'HEAD', range: 'bytes=1-2' }, null],
];
for (const [title, request, expected] of relayed) {
  test(`a file on another web server: ${title}`, async () => {
    const requested: (string | null)[] = [];
    const artefact = urlArtefact(new URL('http://images.test/kernel'), async (_url, init) => {
      requested.push(new Headers(init?.headers).get('range'));
      return new Response('kernel');
    });
    await artefact.deliver({ ...all, ...request, signal });
    assert.deepEqual(requested, [expected]);
  });
}

test('a file is delivered with its length, as a whole or in part', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'metal-boot-test-'));
  try {
    await writeFile(join(directory, 'kernel'), 'a kernel');
    const artefact = fileArtefact(join(directory, 'kernel'));
    await artefact.check(signal);
    const whole = await artefact.deliver({ ...all, signal });
    assert.equal(whole.headers['content-length'], '8');
    assert.equal(String(await buffer(whole.body ?? Readable.from([]))), 'a kernel');
    const part = await artefact.deliver({ ...all, range: 'bytes=2-', signal });
    assert.equal(String(await buffer(part.body ?? Readable.from([]))), 'kernel');
    await assert.rejects(fileArtefact(directory).check(signal), { code: 'ArtefactMissing', message: /is not a file/ });
    await assert.rejects(fileArtefact(join(directory, 'none')).check(signal), { code: 'ArtefactMissing' });
  } finally {
    await rm(directory, { recursive: true });
  }
});
