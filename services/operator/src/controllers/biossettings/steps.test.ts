import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import type { AttributeDefinition, AttributeValue, ObservedAttributes } from '@metal/redfish/resources/attributes.ts';
import { changesOf, compareSteps, duplicatesIn, foreignPending, isSent, orderedSteps } from './steps.ts';

type Flow = NonNullable<BIOSSettings['spec']['settingsFlow']>;

const object = (...settingsFlow: Flow): BIOSSettings => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'BIOSSettings',
  metadata: { name: 'tuned' },
  spec: { version: '1', settingsFlow },
});
const step = (name: string, priority: number, settings: Record<string, string>) => ({ name, priority, settings });

const define = (name: string, type: AttributeDefinition['type'], more: Partial<AttributeDefinition> = {}) => ({
  name,
  type,
  values: [],
  readOnly: false,
  hidden: false,
  immutable: false,
  resetRequired: true,
  ...more,
});

const definitions = [
  define('Timeout', 'Integer', { lowerBound: 0, upperBound: 600 }),
  define('Quiet', 'Boolean'),
  define('Phone', 'String', { resetRequired: false }),
  define('Unsure', 'String', { resetRequired: undefined }),
];

const observed = (
  current: Record<string, AttributeValue>,
  pending: Record<string, AttributeValue> = {},
  isResetPending = false,
): ObservedAttributes => ({
  current: { Timeout: 5, Quiet: true, Phone: '', Unsure: '', ...current },
  pending,
  registry: { id: 'r', definitions: new Map(definitions.map((one) => [one.name, one])), dependencies: [] },
  isResetPending,
});

test('steps are in the order of their priorities, equal ones in the order of the spec', () => {
  const flow = [step('b', 2, {}), step('a2', 1, {}), step('a1', 1, {})];
  assert.deepEqual(
    orderedSteps(object(...flow)).map(({ name }) => name),
    ['a2', 'a1', 'b'],
  );
});

test('a name or an attribute in two steps is an error', () => {
  const found = duplicatesIn(object(step('a', 1, { Quiet: 'true' }), step('a', 2, { Quiet: 'false' })));
  assert.deepEqual(found, {
    reason: 'SettingsDuplicateKeysFound',
    message: 'spec.settingsFlow repeats steps a and attributes Quiet',
  });
  assert.equal(duplicatesIn(object(step('a', 1, { Quiet: 'true' }), step('b', 1, {}))), undefined);
});

test('only steps with differences remain, each with the restart that it needs', () => {
  const flow = [
    step('same', 1, { Timeout: '5', Quiet: 'true' }),
    step('live', 2, { Phone: '112' }),
    step('reset', 3, { Timeout: '10' }),
    step('unsure', 4, { Unsure: 'x' }),
  ];
  assert.deepEqual(
    compareSteps(object(...flow), observed({})).steps.map(({ name, restart }) => [name, restart]),
    [
      ['live', 'None'],
      ['reset', 'Host'],
      ['unsure', 'Host'],
    ],
  );
});

test('numbers and truth values are compared as such, and null is different from everything', () => {
  const wanted = object(step('a', 1, { Timeout: '5', Quiet: 'false' }));
  assert.deepEqual(compareSteps(wanted, observed({})).steps[0]?.changes, [
    { name: 'Quiet', from: 'true', to: 'false' },
  ]);
  assert.equal(compareSteps(wanted, observed({ Quiet: null })).steps.length, 1);
  assert.deepEqual(changesOf(wanted, 'a', observed({ Timeout: 7 }))[0]?.to, false);
});

test('a reset to the defaults, and values that nobody desires, are pending settings of others', () => {
  const wanted = object(step('a', 1, { Timeout: '10', Quiet: 'false' }));
  assert.equal(foreignPending(wanted, observed({}, { Timeout: 10 })), undefined, 'an integer as such');
  assert.equal(foreignPending(wanted, observed({}, { Quiet: false })), undefined);
  assert.match(
    foreignPending(wanted, observed({}, { Timeout: 11 }))?.message ?? '',
    /1 change of others \(Timeout\) waits/,
  );
  assert.match(foreignPending(wanted, observed({}, { Phone: '1' }))?.message ?? '', /\(Phone/);
  assert.match(foreignPending(wanted, observed({}, {}, true))?.message ?? '', /a reset to the defaults/);
});

test('a step is sent when the BMC has its values now or after the next restart', () => {
  const wanted = object(step('a', 1, { Timeout: '10', Quiet: 'false' }));
  assert.equal(isSent(wanted, 'a', observed({ Quiet: false }, { Timeout: 10 })), true);
  assert.equal(isSent(wanted, 'a', observed({}, { Timeout: 10 })), false);
});
