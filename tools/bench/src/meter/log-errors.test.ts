import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogErrors } from './log-errors.ts';

function errorsIn(...lines: (object | string)[]): LogErrors {
  const errors = new LogErrors();
  for (const line of lines) errors.read(typeof line === 'string' ? line : JSON.stringify(line));
  return errors;
}

test('lines of level error and above are counted, and one line of each message is kept', () => {
  const errors = errorsIn(
    { level: 30, msg: 'running' },
    { level: 50, msg: 'request failed', client: 'a' },
    { level: 50, msg: 'request failed', client: 'b' },
    { level: 60, msg: 'over' },
    { level: 40, msg: 'not answered' },
  );
  const { count, examples } = errors.take();
  assert.equal(count, 3);
  assert.deepEqual(examples, ['{"level":50,"msg":"request failed","client":"a"}', '{"level":60,"msg":"over"}']);
});

test('a message that was reported is not reported again', () => {
  const errors = errorsIn({ level: 50, msg: 'request failed' });
  errors.take();
  assert.deepEqual(errors.take(), { count: 0, examples: [] });
});

test('levels of zap are recognised by name', () =>
  assert.equal(errorsIn({ level: 'info' }, { level: 'error' }, { level: 'fatal' }).take().count, 2));

test('the number of errors in a log without levels is unknown, not zero', () => {
  assert.equal(errorsIn('2026-01-01 ERROR no JSON', '{"msg":"no level"}').take().count, undefined);
  assert.equal(errorsIn().take().count, undefined);
});

test('the number of kept lines is limited', () => {
  const errors = errorsIn(
    ...Array.from({ length: 5_000 }, (_, index) => ({ level: 50, msg: `${index} ${'x'.repeat(1_000)}` })),
  );
  const { count, examples } = errors.take();
  assert.equal(count, 5_000);
  assert.ok(examples.join('').length < 2_500);
});
