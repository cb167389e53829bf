import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnknownMachines } from './unknown-machines.ts';

const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

test('the hint counts unknown UUIDs since the given time, and contains no text of a request', () => {
  const unknownMachines = new UnknownMachines();
  unknownMachines.record(uuid(1), 10);
  unknownMachines.record(uuid(2), 20);
  unknownMachines.record('${uuid}', 20);
  assert.equal(unknownMachines.hint(15), '; a machine with an unknown UUID asked');
  assert.equal(unknownMachines.hint(21), '');
  unknownMachines.record(uuid(1), 30);
  assert.match(unknownMachines.hint(15), /^; 2 machines with/);
  assert.doesNotMatch(unknownMachines.hint(0), /0{8}-/);
});

test('only the most recent unknown UUIDs are kept', () => {
  const unknownMachines = new UnknownMachines();
  for (let number = 0; number < 100; number += 1) unknownMachines.record(uuid(number), number);
  assert.match(unknownMachines.hint(0), /^; 16 machines with/);
});
