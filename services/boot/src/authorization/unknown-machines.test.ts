import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnknownMachines } from './unknown-machines.ts';

const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

test('the hint lists unknown UUIDs since the given time', () => {
  const unknownMachines = new UnknownMachines();
  unknownMachines.record(uuid(1), 10);
  unknownMachines.record(uuid(2), 20);
  unknownMachines.record('${uuid}', 20);
  assert.match(unknownMachines.hint(15), new RegExp(`by system UUID ${uuid(2)}, which no Server has`));
  assert.equal(unknownMachines.hint(21), '');
  unknownMachines.record(uuid(1), 30);
  assert.match(unknownMachines.hint(15), new RegExp(`${uuid(2)}, ${uuid(1)},`));
});

test('only the most recent unknown UUIDs are kept', () => {
  const unknownMachines = new UnknownMachines();
  for (let number = 0; number < 100; number += 1) unknownMachines.record(uuid(number), number);
  const hint = unknownMachines.hint(0);
  assert.equal(hint.match(/0{8}-/g)?.length, 16);
  assert.ok(hint.includes(uuid(99)) && hint.includes(uuid(84)));
});
