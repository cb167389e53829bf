import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, inspect } from 'node:util';
import { Password } from './password.ts';

test('a password prints as stars wherever it ends up', () => {
  const password = new Password('hunter2');
  const outputs = [
    String(password),
    JSON.stringify({ password }),
    inspect({ password }),
    format('%o %s', password, password),
  ];
  for (const output of outputs) assert.doesNotMatch(output, /hunter2/);
  assert.equal(password.reveal(), 'hunter2');
});
