import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressSchemes } from '@metal/api/metal3/bmc-drivers.ts';
import { invalidAddresses, validAddresses } from '../../test/bmc-address.rows.ts';
import { parseBmcAddress } from './parse-bmc-address.ts';

for (const [text, ...found] of validAddresses) {
  test(`${text} is an address`, () => {
    const parsed = parseBmcAddress(text);
    assert.ok('address' in parsed, JSON.stringify(parsed));
    const { scheme, transport, host, port, path } = parsed.address;
    assert.deepEqual([scheme, transport, host, port, path], found);
  });
}

for (const [text, problem] of invalidAddresses) {
  test(`"${text}" is not an address`, () => {
    const parsed = parseBmcAddress(text);
    assert.match('problem' in parsed ? parsed.problem : JSON.stringify(parsed), problem);
  });
}

test('a password in an address is in no message', () => {
  const parsed = parseBmcAddress('foo://admin:word@host');
  assert.doesNotMatch(JSON.stringify(parsed), /word/);
});

test('every scheme is accepted', () => {
  for (const scheme of addressSchemes) assert.ok('address' in parseBmcAddress(`${scheme}://192.0.2.1/x`), scheme);
  assert.equal(addressSchemes.length, 2 + 7 * 3);
});
