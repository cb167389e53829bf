import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registryBody, registryOf } from './attribute-registry.ts';
import { type AttributeValue, compareAttributes, type ObservedAttributes } from './attributes.ts';

const choice = (values: Record<string, string | undefined>) =>
  Object.entries(values).map(([ValueName, ValueDisplayName]) => ({ ValueName, ValueDisplayName }));

const attributes = [
  { AttributeName: 'Cores', Type: 'Integer', LowerBound: 1, UpperBound: 64, ResetRequired: true },
  { AttributeName: 'Offset', Type: 'Integer', LowerBound: -10, UpperBound: 10 },
  { AttributeName: 'Unbounded', Type: 'Integer', LowerBound: 0, UpperBound: 0 },
  { AttributeName: 'Quiet', Type: 'Boolean', ResetRequired: false },
  { AttributeName: 'Tag', Type: 'String', MinLength: 2, MaxLength: 8 },
  { AttributeName: 'Mode', Type: 'Enumeration', Value: choice({ Uefi: 'UEFI', Bios: 'Legacy', Dual: 'Legacy' }) },
  { AttributeName: 'Turbo', Type: 'Enumeration', Value: choice({ On: 'Enabled', Off: 'Disabled' }), ReadOnly: true },
  { AttributeName: 'Serial', Type: 'String', Readonly: true },
  { AttributeName: 'Secret', Type: 'Password' },
  { AttributeName: 'Licence', Type: 'String', WriteOnly: true },
  { AttributeName: 'Hidden', Type: 'String', Hidden: true },
  { AttributeName: 'Date', Type: 'String', Immutable: true },
];
const writableInDualMode = {
  Type: 'Map',
  DependencyFor: 'Turbo',
  Dependency: {
    MapFrom: [
      {
        MapFromAttribute: 'Mode',
        MapFromProperty: 'CurrentValue',
        MapFromCondition: 'EQU',
        MapFromValue: 'Dual',
      },
    ],
    MapToAttribute: 'Turbo',
    MapToProperty: 'ReadOnly',
    MapToValue: false,
  },
};
const body = registryBody.parse({ RegistryEntries: { Attributes: attributes, Dependencies: [writableInDualMode] } });
const registry = registryOf('R', body, '/r');

const observed = (
  current: Record<string, AttributeValue>,
  more: Partial<ObservedAttributes> = {},
): ObservedAttributes => ({
  current,
  pending: {},
  registry,
  isResetPending: false,
  ...more,
});
const withoutRegistry = { registry: undefined };

const equal: [title: string, desired: string, current: AttributeValue, name: string, more?: object][] = [
  ['an integer and its text', '64', 64, 'Cores'],
  ['an integer with decimals', '64.0', 64, 'Cores'],
  ['an integer that the BMC reports as text', '64', '64', 'Cores'],
  ['a boolean and its text', 'true', true, 'Quiet'],
  ['a boolean that the BMC reports as text', 'False', 'false', 'Quiet'],
  ['a value and its name', 'Uefi', 'Uefi', 'Mode'],
  ['a value and the name that is displayed', 'UEFI', 'Uefi', 'Mode'],
  ['a value that the BMC reports by the displayed name', 'Uefi', 'UEFI', 'Mode'],
  ['a value that the BMC reports by a name that two values have', 'Dual', 'Legacy', 'Mode'],
  ['a text that the BMC reports as a number', '12', 12, 'Tag'],
  ['a value outside of the registry that the BMC has', 'Other', 'Other', 'Mode'],
  ['a read-only value that the BMC has', 'X1', 'X1', 'Serial'],
  ['a number without a registry', '1e1', 10, 'Cores', withoutRegistry],
  ['a fraction without a registry', '0.50', 0.5, 'Cores', withoutRegistry],
  ['a boolean without a registry', 'TRUE', true, 'Quiet', withoutRegistry],
];
for (const [title, desired, current, name, more] of equal) {
  test(`${title} are equal`, () => {
    const result = compareAttributes({ [name]: desired }, observed({ [name]: current }, more));
    assert.deepEqual(result, { changes: [], problems: [] });
  });
}

const different: [
  title: string,
  desired: string,
  current: AttributeValue | undefined,
  name: string,
  to: AttributeValue,
][] = [
  ['another integer', '63', 64, 'Cores', 63],
  ['a negative integer', '-3', 0, 'Offset', -3],
  ['an integer without bounds', '99', 1, 'Unbounded', 99],
  ['another boolean', 'false', true, 'Quiet', false],
  ['a value, sent by its name', 'UEFI', 'Bios', 'Mode', 'Uefi'],
  ['a value of the letter case of the registry', 'Uefi', 'uefi', 'Mode', 'Uefi'],
  ['a text in place of null', 'rack', null, 'Tag', 'rack'],
  ['a boolean in place of null', 'false', null, 'Quiet', false],
  ['a value that the BMC does not report', 'Dual', undefined, 'Mode', 'Dual'],
];
for (const [title, desired, current, name, to] of different) {
  test(`${title} is a change`, () => {
    const { changes, problems } = compareAttributes(
      { [name]: desired },
      observed(current === undefined ? {} : { [name]: current }),
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(changes, [{ name, from: current, to, needsReset: name !== 'Quiet' }]);
  });
}

const rejected: [title: string, desired: Record<string, string>, message: RegExp, more?: object][] = [
  ['a fraction for an integer', { Cores: '1.5' }, /^expected a whole number, found "1\.5"$/],
  ['a huge integer', { Cores: '12345678901234567890' }, /^expected a whole number/],
  ['an empty integer', { Cores: '' }, /^expected a whole number, found ""$/],
  ['an integer below its bound', { Cores: '0' }, /^expected 1 to 64, found "0"$/],
  ['a negative integer below its bound', { Offset: '-11' }, /^expected -10 to 10, found "-11"$/],
  ['another word for a boolean', { Quiet: 'Enabled' }, /^expected true or false, found "Enabled"$/],
  ['a value that is not in the list', { Mode: 'Both' }, /^expected one of Uefi, Bios, Dual, found "Both"$/],
  ['a displayed name of two values', { Mode: 'Legacy' }, /^expected one of Uefi, Bios, Dual, found "Legacy"$/],
  ['a text that is too short', { Tag: 'x' }, /^expected 2 to 8 characters, found "x"$/],
  ['a text that is too long', { Tag: 'x'.repeat(99) }, /^expected 2 to 8 characters, found "x{40}…"$/],
  ['an unknown name', { Coers: '1' }, /^is unknown; did you mean Cores\?$/],
  ['a name of another letter case', { cores: '1' }, /did you mean Cores\?$/],
  ['a name that resembles none', { Something: '1' }, /^is unknown$/],
  ['a property of every object', { constructor: '1' }, /^is unknown$/],
  ['a read-only attribute', { Serial: 'other' }, /^is read-only$/],
  ['an attribute that a dependency keeps read-only', { Turbo: 'On' }, /^is read-only because of Mode$/],
  ['a hidden attribute', { Hidden: 'x' }, /^is hidden$/],
  ['an immutable attribute', { Date: 'x' }, /^is immutable$/],
  ['a password', { Secret: 'x' }, /^is never shown by a BMC, so it cannot be compared$/],
  ['a value that is never shown', { Licence: 'x' }, /^is never shown by a BMC/],
  ['text for a number without a registry', { Cores: 'many' }, /^expected a number, found "many"$/, withoutRegistry],
  ['an unknown name without a registry', { Coers: '1' }, /did you mean Cores\?$/, withoutRegistry],
];
for (const [title, desired, message, more] of rejected) {
  test(`${title} is a problem`, () => {
    const { changes, problems } = compareAttributes(desired, observed({ Cores: 64, Mode: 'Uefi' }, more));
    assert.deepEqual(changes, []);
    assert.equal(problems.length, 1);
    assert.match(problems[0]?.message ?? '', message);
  });
}

test('a dependency applies to the values after the change', () => {
  const current = observed({ Mode: 'Uefi', Turbo: 'Off' });
  const { changes, problems } = compareAttributes({ Mode: 'Dual', Turbo: 'On' }, current);
  assert.deepEqual(problems, []);
  assert.deepEqual(
    changes.map(({ name }) => name),
    ['Mode', 'Turbo'],
  );
});

test('the value of a secret is in no message', () => {
  const secretNames = new Set(['Tag', 'Mode', 'Cores', 'Coers']);
  const desired = { Tag: 'hunter2-hunter2', Mode: 'hunter2', Cores: 'hunter2', Coers: 'hunter2' };
  const { problems } = compareAttributes(desired, observed({ Cores: 1 }), { secretNames });
  assert.equal(problems.length, 4);
  for (const { message } of problems) assert.doesNotMatch(message, /hunter2/);
});

test('changes and problems are in the order of the names', () => {
  const desired = { Tag: 'rack', Mode: 'Bios', Nix: '', Hidden: 'x', Cores: '2' };
  const { changes, problems } = compareAttributes(desired, observed({ Cores: 1, Mode: 'Uefi' }));
  assert.deepEqual(
    [changes, problems].map((list) => list.map(({ name }) => name)),
    [
      ['Cores', 'Mode', 'Tag'],
      ['Hidden', 'Nix'],
    ],
  );
});

test('a long list of unknown names costs no long search', () => {
  const names = Array.from({ length: 5_000 }, (_, index) => ({ AttributeName: `Attribute${index}`, Type: 'String' }));
  const large = registryOf('R', registryBody.parse({ RegistryEntries: { Attributes: names } }), '/r');
  const desired = Object.fromEntries(names.map(({ AttributeName }) => [`${AttributeName}x`, '']));
  const { problems } = compareAttributes(desired, observed({}, { registry: large }));
  assert.equal(problems.filter(({ message }) => message.includes('did you mean')).length, 10);
});
