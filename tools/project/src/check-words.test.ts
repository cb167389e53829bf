import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RetiredWords, retiredWordsIn } from './check-words.ts';

const retired: RetiredWords = {
  words: Object.fromEntries([
    ['turn', 'reconcile'],
    ['wish', 'options'],
  ]),
  compounds: Object.fromEntries([['letGo', 'releaseShard']]),
  allowed: ['turnOn'],
};
const messages = (text: string) =>
  retiredWordsIn('a.ts', text, retired).map(({ line, message }) => `${line} ${message}`);

test('a retired word is found as part of an identifier, once per file', () => {
  assert.deepEqual(messages('const serverTurn = 1;\nuse(serverTurn);'), [
    '1 found serverTurn: "turn" is retired; use reconcile',
  ]);
  assert.deepEqual(messages('\ninterface LEDWish {}'), ['2 found LEDWish: "wish" is retired; use options']);
  assert.deepEqual(messages('function letGoOf() {}'), ['1 found letGoOf: "letGo" is retired; use releaseShard']);
});

test('other words, allowed identifiers, texts and comments pass', () => {
  assert.deepEqual(messages("return turnOn('wish'); // told\n/* turn */ const nocturnal = `wish`;"), []);
});
