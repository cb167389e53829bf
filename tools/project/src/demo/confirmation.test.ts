import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import { requireConfirmation } from './confirmation.ts';

const unanswered = new AbortController().signal;

function terminal({ isTTY = true } = {}) {
  const input = Object.assign(new PassThrough(), { isTTY });
  let text = '';
  const write: Writable['_write'] = (chunk, _, done) => {
    text += String(chunk);
    done();
  };
  return { input, output: new Writable({ write }), shown: () => text };
}

test('only yes is a confirmation; the text is shown first', async () => {
  for (const answer of ['y\n', 'YES\n']) {
    const { input, output, shown } = terminal();
    input.write(answer);
    await requireConfirmation('the plan', { input, output }, { yes: false, signal: unanswered });
    assert.equal(shown(), 'the plan\nContinue? [y/N] ');
  }
  for (const answer of ['\n', 'n\n', 'yellow\n', undefined]) {
    const { input, output } = terminal();
    input.end(answer);
    const confirmation = requireConfirmation('the plan', { input, output }, { yes: false, signal: unanswered });
    await assert.rejects(confirmation, { exitCode: 1, message: /nothing was changed: it was not confirmed/ });
  }
});

test('without a terminal only --yes is a confirmation', async () => {
  const { input, output, shown } = terminal({ isTTY: false });
  input.end('y\n');
  const wait = { yes: false, signal: unanswered };
  await assert.rejects(requireConfirmation('the plan', { input, output }, wait), { exitCode: 2, message: /or --yes/ });
  await requireConfirmation('the plan', { input, output }, { ...wait, yes: true });
  assert.equal(shown(), 'the plan\nthe plan\n');
});

test('a signal ends the wait', async () => {
  const stop = new AbortController();
  const confirmation = requireConfirmation('the plan', terminal(), { yes: false, signal: stop.signal });
  const reason = new Error('stopped');
  stop.abort(reason);
  await assert.rejects(confirmation, reason);
});
