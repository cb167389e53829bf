import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { AuditLog, isWrite, requestIn } from './audit-log.ts';

const line = (fields: { stage?: string; verb: string; user?: string; resource?: string; subresource?: string }) => {
  const { stage = 'ResponseComplete', verb, user = 'operator', resource, subresource } = fields;
  const objectRef = resource === undefined ? undefined : { resource, subresource };
  return JSON.stringify({ stage, verb, user: { username: user }, objectRef, requestURI: '/version?timeout=32s' });
};

test('a request is named by verb, resource and subresource', () => {
  const request = requestIn(line({ verb: 'patch', resource: 'servers', subresource: 'status' }));
  assert.deepEqual(request, { user: 'operator', verb: 'patch', resource: 'servers/status' });
  assert.equal(requestIn(line({ verb: 'get' }))?.resource, '/version');
});

test('a watch counts once, at its start', () => {
  assert.equal(requestIn(line({ verb: 'watch', resource: 'bmcs', stage: 'ResponseComplete' })), undefined);
  assert.equal(requestIn(line({ verb: 'watch', resource: 'bmcs', stage: 'ResponseStarted' }))?.verb, 'watch');
});

test('each line counts once for its user, also if it is read in two parts', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'bench-audit-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'audit.log');
  const log = new AuditLog(path);
  const [first, second] = [line({ verb: 'get', resource: 'bmcs' }), line({ verb: 'get', resource: 'bmcs' })];
  await appendFile(path, `${line({ verb: 'list', resource: 'bmcs', user: 'other' })}\n${first}\n${second.slice(0, 9)}`);
  assert.deepEqual(await log.requestsOf('operator'), new Map([['get bmcs', 1]]));
  await appendFile(path, `${second.slice(9)}\n`);
  assert.deepEqual(await log.requestsOf('operator'), new Map([['get bmcs', 2]]));
  assert.deepEqual(await log.requestsOf('nobody'), new Map());
});

test('a log is read in chunks, and lines count once for concurrent callers', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'bench-audit-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'audit.log');
  const log = new AuditLog(path, 7);
  const user = 'Ünal';
  await appendFile(path, `${line({ verb: 'get', resource: 'bmcs', user })}\n`.repeat(20));
  const expected = new Map([['get bmcs', 20]]);
  assert.deepEqual(await Promise.all([log.requestsOf(user), log.requestsOf(user)]), [expected, expected]);
});

const writes: [string, boolean][] = [
  ['patch servers/status', true],
  ['create events', true],
  ['delete secrets', true],
  ['update leases', false],
  ['list servers', false],
];
for (const [name, expected] of writes)
  test(`"${name}" ${expected ? 'counts as a write' : 'does not count as a write'}`, () =>
    assert.equal(isWrite(name), expected));
