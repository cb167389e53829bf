import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bmcNameOf, claimNameOf } from './native-names.ts';

const at = (host: string, port = '', transport: 'http' | 'https' = 'https') => bmcNameOf({ host, port, transport });

test('hosts with the same BMC have one name for it, however the address is written', () => {
  assert.match(at('192.0.2.1'), /^metal3-[0-9a-f]{16}$/);
  assert.equal(at('192.0.2.1', '443'), at('192.0.2.1'));
  assert.equal(at('192.0.2.1', '80', 'http'), at('192.0.2.1', '', 'http'));
  assert.equal(at('2001:DB8::7'), at('2001:db8::7'));
});

test('BMCs with different addresses or ports have different names', () => {
  const names = [at('192.0.2.1'), at('192.0.2.2'), at('192.0.2.1', '8443'), at('192.0.2.1', '', 'http')];
  assert.equal(new Set(names).size, names.length);
});

test('a claim has the name of its host, and a long name is shortened to one that no other host has', () => {
  const nameOf = (name: string) => claimNameOf({ metadata: { name } });
  assert.equal(nameOf('h'.repeat(63)), 'h'.repeat(63));
  const [one, other] = [nameOf(`${'h'.repeat(252)}1`), nameOf(`${'h'.repeat(252)}2`)];
  assert.match(one, /^h{46}-[0-9a-f]{16}$/);
  assert.notEqual(one, other);
});
