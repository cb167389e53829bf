import assert from 'node:assert/strict';
import { test } from 'node:test';
import { traitsOf } from './traits.ts';
import { type Vendor, vendorOf } from './vendors.ts';

const spellings: Readonly<Record<Vendor, readonly string[]>> = {
  Dell: ['Dell Inc.', 'Dell', 'DELL', 'Dell EMC', 'DellEMC', 'Dell Inc', 'Dell, Inc.', 'Dell Technologies', ' dell '],
  HPE: [
    'HPE',
    'hpe',
    'HP',
    'Hewlett-Packard',
    'Hewlett Packard',
    'Hewlett Packard Enterprise',
    'Hewlett-Packard Company',
    'Hewlett Packard Enterprise Co.',
  ],
  Lenovo: ['Lenovo', 'LENOVO', 'Lenovo Group Ltd.', 'Lenovo Corporation'],
  Supermicro: [
    'Supermicro',
    'SUPERMICRO',
    'SuperMicro',
    'Super Micro',
    'Super Micro Computer',
    'Super Micro Computer, Inc.',
    'Super Micro Computer Inc',
    'Supermicro Corporation',
  ],
};

for (const [vendor, names] of Object.entries(spellings))
  test(`each spelling of ${vendor} is the same vendor, with the same traits`, () => {
    for (const name of names) {
      assert.equal(vendorOf(name), vendor, name);
      assert.deepEqual(traitsOf(name), traitsOf(names[0]), name);
    }
  });

test('a vendor that is not known has the traits of the standard', () => {
  for (const name of [undefined, '', 'Inc.', 'Contoso', 'Dellware', 'HP Indigo', 'constructor', '__proto__', 'ГИГА'])
    assert.equal(vendorOf(name), undefined, name ?? 'none');
  assert.deepEqual(traitsOf('Dellware'), traitsOf(undefined));
  assert.notDeepEqual(traitsOf('Dell'), traitsOf(undefined));
});
