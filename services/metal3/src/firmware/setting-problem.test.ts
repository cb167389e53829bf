import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SettingSchema } from '@metal/api/metal3/firmware-schema.ts';
import { settingProblem } from './setting-problem.ts';

const schema: Record<string, SettingSchema> = {
  mode: { attribute_type: 'Enumeration', allowable_values: ['Uefi', 'Bios'] },
  count: { attribute_type: 'Integer', lower_bound: 1, upper_bound: 10 },
  label: { attribute_type: 'String', min_length: 1, max_length: 4 },
  enabled: { attribute_type: 'Boolean' },
  secret: { attribute_type: 'Password' },
  AdminPassword: { attribute_type: 'String' },
  fixed: { attribute_type: 'String', read_only: true },
  open: {},
};

const rows: [name: string, value: string | number, problem: RegExp | undefined][] = [
  ['mode', 'Uefi', undefined],
  ['mode', 'uefi', /expected one of Uefi, Bios, found "uefi"/],
  ['count', 10, undefined],
  ['count', '10', undefined],
  ['count', 11, /a whole number of at least 1 of at most 10/],
  ['count', '1.5', /a whole number/],
  ['label', 'abcd', undefined],
  ['label', 'abcde', /length of at least 1 of at most 4/],
  ['label', '', /length/],
  ['enabled', 'true', undefined],
  ['enabled', 'True', /true or false/],
  ['secret', 'x', /no password/],
  ['AdminPassword', 'x', /is a password/],
  ['fixed', 'x', /read-only/],
  ['open', 'x', undefined],
  ['other', 'x', /unknown/],
  ['toString', 'x', /unknown/],
];
for (const [name, value, problem] of rows) {
  test(`setting ${name} to "${value}" is ${problem === undefined ? 'accepted' : 'refused'}`, () => {
    const found = settingProblem(name, value, schema);
    if (problem === undefined) assert.equal(found, undefined);
    else assert.match(found ?? '', problem);
  });
}

test('the value of a password is in no message', () => {
  assert.doesNotMatch(settingProblem('AdminPassword', 'hunter2', schema) ?? '', /hunter2/);
});

test('without an attribute registry nothing can be checked', () => {
  assert.match(settingProblem('mode', 'Uefi', {}) ?? '', /publishes no attribute registry/);
});
