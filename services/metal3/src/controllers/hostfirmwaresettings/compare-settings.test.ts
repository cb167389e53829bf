import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FirmwareSettings, NotSupported } from '../../provisioner/node-services.ts';
import { compareSettings, withoutPasswords } from './compare-settings.ts';

const found: FirmwareSettings = {
  settings: { Turbo: 'Enabled', Cores: '4', AdminPassword: 'x' },
  schema: {
    Turbo: { attribute_type: 'Enumeration', allowable_values: ['Enabled', 'Disabled'] },
    Cores: { attribute_type: 'Integer', upper_bound: 8 },
    AdminPassword: { attribute_type: 'Password' },
  },
  vendor: 'v',
  model: 'm',
};
const shown = withoutPasswords(found);

const rows: [
  title: string,
  wanted: Record<string, string | number>,
  isChanged: boolean,
  problem: RegExp | undefined,
][] = [
  ['no setting', {}, false, undefined],
  ['values in use, whatever their type', { Turbo: 'Enabled', Cores: 4 }, false, undefined],
  ['another value', { Turbo: 'Disabled' }, true, undefined],
  ['a value that the machine rejects', { Cores: 9 }, true, /Cores: expected/],
  ['an unknown setting', { Colour: 'red' }, true, /Colour does not exist on this machine/],
  ['a name that every object has', { constructor: 'x' }, true, /constructor does not exist/],
  ['a password', { AdminPassword: 'secret' }, true, /AdminPassword is a password/],
];

for (const [title, wanted, isChanged, problem] of rows)
  test(`settings with ${title}`, () => {
    const comparison = compareSettings(wanted, shown);
    assert.equal(comparison.isChanged, isChanged);
    if (problem === undefined) assert.deepEqual(comparison.problems, []);
    else assert.match(comparison.problems.join(), problem);
  });

test('a password is in neither the settings nor the schema', () => {
  assert.deepEqual(Object.keys(shown.settings), ['Turbo', 'Cores']);
  assert.deepEqual(Object.keys(shown.schema), ['Turbo', 'Cores']);
});

test('settings of a host whose back end cannot change any are invalid', () => {
  const unsupported = new NotSupported('no BIOS settings over IPMI');
  assert.deepEqual(compareSettings({}, unsupported), { isChanged: false, problems: [] });
  assert.deepEqual(compareSettings({ a: 'b' }, unsupported).problems, ['no BIOS settings over IPMI']);
});
