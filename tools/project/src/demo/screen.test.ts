import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Screen } from './screen.ts';

test('the message without a server states that there is none', () => {
  using screen = new Screen(process.stdout);
  assert.match(screen.lastSeen(), /SERVER +MANUFACTURER +STATE +POWER +REASON\n +there is no Server yet$/);
});
