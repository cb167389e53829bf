import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AdmissionRule, toAdmissionObjects } from './admission.ts';
import { Secret } from './builtin.ts';

const rule: AdmissionRule = {
  name: 'r',
  kind: Secret,
  operations: ['CREATE'],
  action: 'Deny',
  variables: { size: '1' },
  checks: [
    { holds: 'a', message: `'A'` },
    { holds: 'b', message: `'B'` },
  ],
};
const validationsOf = (given: AdmissionRule) => {
  const [{ spec }] = toAdmissionObjects(given);
  const { validations, variables } = spec as { validations: { expression: string }[]; variables: { name: string }[] }; // of toAdmissionObjects
  return [validations.map(({ expression }) => expression), variables.map(({ name }) => name)];
};

test('a denied request reports all checks, because the API server reports one validation', () => {
  assert.deepEqual(validationsOf(rule), [['variables.problems.size() == 0'], ['size', 'problems']]);
});

test('each warning is a validation, and so is a single check', () => {
  assert.deepEqual(validationsOf({ ...rule, action: 'Warn' }), [['a', 'b'], ['size']]);
  assert.deepEqual(validationsOf({ ...rule, checks: rule.checks.slice(1) }), [['b'], ['size']]);
});
