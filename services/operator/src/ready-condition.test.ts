import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '@metal/kube/controller.ts';
import { OperatorError } from '@metal/kube/errors.ts';
import { readyCondition } from './ready-condition.ts';

const object = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'thing', generation: 3 } };
const outcome = (rest: Partial<Outcome<string>>): Outcome<string> => ({
  phase: 'Initial',
  phaseSince: '2026-01-01T00:00:00Z',
  decision: { kind: 'act', reason: 'PowerWanted', meaning: 'The claim wants power.' },
  ...rest,
});
const said = (rest: Partial<Outcome<string>>, ready?: { reason: string; message: string }): string => {
  const { status, reason, message } = readyCondition(object, outcome(rest), ready);
  return `${status} ${reason}: ${message}`;
};

test('a decision without a message says at least what its reason means', () => {
  assert.equal(said({}), 'False PowerWanted: The claim wants power.');
});

test('the message of the case comes before the general meaning', () => {
  const decision = { kind: 'wait', reason: 'Away', message: 'gone since noon', meaning: 'It is away.' } as const;
  assert.equal(said({ decision }), 'False Away: gone since noon');
});

test('an error says its code, and whether it is tried again', () => {
  const error = new OperatorError({ code: 'StaleDecision', message: 'it changed hands', retry: 'later' });
  const ready = { reason: 'Bound', message: 'held' };
  assert.equal(said({ error, triedAgain: true }, ready), 'False StaleDecision: it changed hands; tried again soon');
  assert.equal(said({ error }), 'False StaleDecision: it changed hands; tried again when something changes');
  assert.equal(said({ error: new TypeError('oops') }), 'False InternalError: oops; tried again when something changes');
});

test('what is as it is wanted is True for its own reason', () => {
  assert.equal(said({}, { reason: 'Bound', message: 'held' }), 'True Bound: held');
});
