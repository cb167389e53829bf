import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guestUrl } from './guest-url.ts';

test('loopback URLs become URLs of the host for a guest, others are unchanged', () => {
  assert.equal(guestUrl('http://127.0.0.1:8082'), 'http://10.0.2.2:8082');
  assert.equal(guestUrl('http://localhost:8082/a?b=localhost'), 'http://10.0.2.2:8082/a?b=localhost');
  assert.equal(guestUrl('http://[::1]:1/'), 'http://10.0.2.2:1/');
  assert.equal(guestUrl('http://127.0.0.1:8082/x', true), 'http://10.0.2.100:8082/x');
  assert.equal(guestUrl('https://boot.test/127.0.0.1'), 'https://boot.test/127.0.0.1');
});
