import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressFault } from './address-fault.ts';

const rows: [host: string, port: number, fault: RegExp | undefined][] = [
  ['192.0.2.1', 443, undefined],
  ['2001:db8::1', 443, undefined],
  ['::ffff:192.0.2.1', 443, undefined],
  ['bmc-1.example', 8443, undefined],
  ['bücher.example', 443, undefined],
  ['192.0.2.1', 0, /^port 0 does not exist/],
  ['192.0.2.1', -1, /^port -1 does not exist/],
  ['192.0.2.1', 65_536, /^port 65536 does not exist/],
  ['fe80::1%eth0', 443, /has a zone/],
  ['', 443, /neither an IP address nor a host name/],
  ['a host', 443, /neither/],
  ['host/path', 443, /neither/],
  ['user@host', 443, /neither/],
  ['host:1', 443, /neither/],
  ['999.1.1.1', 443, /neither/],
];
for (const [host, port, fault] of rows) {
  test(`"${host}" on port ${port} ${fault === undefined ? 'is valid' : 'is rejected'}`, () => {
    const found = addressFault({ scheme: 'https', host, port });
    if (fault === undefined) assert.equal(found, undefined);
    else assert.match(found ?? '', fault);
  });
}
