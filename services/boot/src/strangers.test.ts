import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Strangers } from './strangers.ts';

const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

test('who waits for a script is told of strangers that came since, and of nobody else', () => {
  const strangers = new Strangers();
  strangers.saw(uuid(1), 10);
  strangers.saw(uuid(2), 20);
  strangers.saw('${uuid}', 20);
  assert.match(strangers.hint(15), new RegExp(`by system UUID ${uuid(2)}, which no Server has`));
  assert.equal(strangers.hint(21), '');
  strangers.saw(uuid(1), 30);
  assert.match(strangers.hint(15), new RegExp(`${uuid(2)}, ${uuid(1)},`));
});

test('of many strangers the newest are remembered', () => {
  const strangers = new Strangers();
  for (let number = 0; number < 100; number += 1) strangers.saw(uuid(number), number);
  const hint = strangers.hint(0);
  assert.equal(hint.match(/0{8}-/g)?.length, 16);
  assert.ok(hint.includes(uuid(99)) && hint.includes(uuid(84)));
});
