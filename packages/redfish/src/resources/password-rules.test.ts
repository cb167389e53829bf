import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatePassword, passwordLength } from './password-rules.ts';
import { traitsOf } from '../traits.ts';

const lengths: [minLength: number | undefined, maxLength: number | undefined, length: number][] = [
  [undefined, undefined, 32],
  [0, 0, 32],
  [8, 30, 30],
  [8, 20, 20],
  [8, 255, 32],
  [1, 8, 8],
  [40, 64, 40],
  [40, undefined, 32],
];
for (const [minLength, maxLength, length] of lengths) {
  test(`a password for a service with ${minLength} to ${maxLength} characters has ${length}`, () =>
    assert.equal(passwordLength({ minLength, maxLength }), length));
}

for (const vendor of ['Dell Inc.', 'HPE', 'Lenovo', 'Supermicro', undefined]) {
  test(`a password for ${vendor} has a character of each class and only accepted special characters`, () => {
    const specials = traitsOf(vendor).passwordSpecials;
    for (let round = 0; round < 200; round += 1) {
      const text = generatePassword({ bounds: { minLength: 8, maxLength: 16 }, specials }).reveal();
      assert.equal(text.length, 16);
      for (const characters of [/[a-z]/, /[A-Z]/, /\d/]) assert.match(text, characters);
      const found = text.replaceAll(/[a-zA-Z0-9]/g, '').split('');
      assert.ok(found.length > 0);
      assert.ok(found.every((character) => specials.includes(character)));
    }
  });
}

test('the characters depend on the random numbers only', () => {
  const generateWith = (pickIndex: (below: number) => number) =>
    generatePassword({ bounds: { minLength: 8, maxLength: 12 }, specials: '!', pick: pickIndex }).reveal();
  assert.equal(
    generateWith((below) => below - 1),
    'zZ9!!!!!!!!!',
  );
  assert.equal(
    generateWith(() => 0),
    'A0!aaaaaaaaa',
  );
});

test('a generated password does not print itself', () => {
  const password = generatePassword({ bounds: { minLength: undefined, maxLength: undefined }, specials: '!' });
  assert.equal(`${password.toString()}${JSON.stringify({ password })}`, '***{"password":"***"}');
});
