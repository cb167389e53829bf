import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Screen } from './screen.ts';

test('where no server has been seen, that is what was seen last', () => {
  using screen = new Screen(process.stdout);
  assert.match(screen.lastSeen(), /SERVER +MANUFACTURER +STATE +POWER +REASON\n +there is no Server yet$/);
});
