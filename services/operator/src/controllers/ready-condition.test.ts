import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import { KubeError, OperatorError } from '@metal/kube/errors.ts';
import { readyCondition } from './ready-condition.ts';

const noon = '2026-01-01T12:00:00Z';
const object = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'thing', generation: 3 } };
const outcome = (rest: Partial<Outcome<string>>): Outcome<string> => ({
  phase: 'Initial',
  phaseSince: '2026-01-01T00:00:00Z',
  at: noon,
  decision: { kind: 'act', reason: 'PowerWanted', meaning: 'The claim wants power.' },
  ...rest,
});
const formatReady = (rest: Partial<Outcome<string>>, ready?: { reason: string; message: string }): string => {
  const { status, reason, message } = readyCondition(object, outcome(rest), ready);
  return `${status} ${reason}: ${message}`;
};

test('a decision without a message reports the meaning of its reason', () => {
  assert.equal(formatReady({}), `False PowerWanted: The claim wants power (since ${noon})`);
});

test('the message of a decision wins over the meaning of its reason', () => {
  const decision = { kind: 'wait', reason: 'Away', message: 'out of town', meaning: 'It is away.' } as const;
  assert.equal(formatReady({ decision }), `False Away: out of town (since ${noon})`);
});

test('an error reports its code, and whether it is retried', () => {
  const error = new OperatorError({ code: 'StaleDecision', message: 'it changed hands', retry: 'later' });
  const ready = { reason: 'Bound', message: 'held' };
  assert.equal(
    formatReady({ error, willRetry: true }, ready),
    `False StaleDecision: it changed hands; tried again soon (since ${noon})`,
  );
  assert.match(formatReady({ error }), /^False StaleDecision: it changed hands; tried again after a change/);
  assert.match(formatReady({ error: new TypeError('oops') }), /^False InternalError: oops;/);
});

test('a ready object is True with the given reason', () => {
  assert.equal(formatReady({}, { reason: 'Bound', message: 'held' }), 'True Bound: held');
});

test('the time in the message stays while the reason does', () => {
  const first = readyCondition(
    object,
    outcome({ decision: { kind: 'wait', reason: 'Away', message: 'one try' } }),
    undefined,
  );
  const known = { ...object, status: { conditions: [{ ...first, lastTransitionTime: noon }] } };
  const later = outcome({
    at: '2026-01-01T13:00:00Z',
    decision: { kind: 'wait', reason: 'Away', message: 'two tries' },
  });
  assert.equal(readyCondition(known, later, undefined).message, `two tries (since ${noon})`);
  const other = { ...later, decision: { ...later.decision, reason: 'Refused' } };
  assert.equal(readyCondition(known, other, undefined).message, 'two tries (since 2026-01-01T13:00:00Z)');
});

test('control characters of a BMC do not reach the message', () => {
  const decision = { kind: 'wait', reason: 'Away', message: 'the BMC reports "\u001b[2Jx\r\ny"' } as const;
  assert.equal(formatReady({ decision }), `False Away: the BMC reports " [2Jx y" (since ${noon})`);
});

test('a long error of the API server is shortened to its beginning and its end', () => {
  const text = `PATCH /apis/metal.ironcore.dev/v1alpha1/servers: ${'name '.repeat(100)}: must be no more than 253 characters`;
  const cause = new KubeError({ code: 'Invalid', message: text });
  const refused = new OperatorError({ code: 'BindingRefused', message: `not bound: ${text}`, retry: 'later', cause });
  for (const error of [cause, refused]) {
    const message = formatReady({ error });
    assert.match(message, /PATCH .* … .*must be no more than 253 characters; tried again after a change/);
    assert.ok(message.length < 240, message);
  }
});
