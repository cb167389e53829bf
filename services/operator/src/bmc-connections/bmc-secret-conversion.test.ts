import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { convertedKeysAnnotation, planConversion } from './bmc-secret-conversion.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

function secret(stringData: Record<string, string>, data: Record<string, string> = {}, converted = ''): BMCSecret {
  const annotations = converted === '' ? {} : { [convertedKeysAnnotation]: converted };
  const encoded = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)]));
  return {
    apiVersion: 'metal.ironcore.dev/v1alpha1',
    kind: 'BMCSecret',
    metadata: { name: 's', annotations },
    data: encoded,
    stringData,
  };
}

test('clear text is moved into data', () => {
  assert.deepEqual(planConversion(secret({ username: 'root', password: 'ä' }, { note: 'n' })), {
    data: { username: base64('root'), password: base64('ä') },
    keys: ['username', 'password'],
    ambiguous: [],
    converted: ['password', 'username'],
  });
});

test('a value that equals data is removed from stringData', () => {
  const { keys, ambiguous } = planConversion(secret({ password: 'p' }, { password: 'p' }));
  assert.deepEqual([keys, ambiguous], [['password'], []]);
});

test('a value that was in data first is kept, and reported as ambiguous', () => {
  const { keys, ambiguous, data } = planConversion(secret({ password: 'new' }, { password: 'old' }));
  assert.deepEqual([keys, ambiguous, data], [[], ['password'], {}]);
});

test('a converted value is replaced by a new one in stringData', () => {
  const { keys, data } = planConversion(secret({ password: 'new' }, { password: 'old' }, 'password,username'));
  assert.deepEqual([keys, data], [['password'], { password: base64('new') }]);
});
