import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { configurationOf, fileNames, hostLine, leaseScript, bootfileLine } from './dnsmasq-configuration.ts';
import { settingsOf } from './settings.ts';

const settings = settingsOf({
  ranges: '192.0.2.100-192.0.2.199/24@192.0.2.1,198.51.100.10-198.51.100.20/24',
  interfaces: 'eth1,vlan.7',
  nameServers: '192.0.2.53,192.0.2.54',
  leaseMs: 3_600_000,
  macPrefixes: '3cecef',
  unknown: 'ignore',
  tftpRoot: '/usr/lib/ipxe',
  directory: '/var/lib/dhcp',
  endpointRanges: '',
  bootUrl: 'http://192.0.2.1:8082',
});
const linesOf = (text: string): string[] => text.trimEnd().split('\n');
const own = linesOf(configurationOf(settings, { ownProcess: true }));

for (const [what, lines] of [
  [
    'serves the interfaces it is given and nothing else',
    ['interface=eth1', 'interface=vlan.7', 'except-interface=lo', 'port=0'],
  ],
  ['gives addresses of its ranges', ['dhcp-range=set:range-0,192.0.2.100,192.0.2.199,255.255.255.0,3600']],
  ['sends the router of a range', ['dhcp-option=tag:range-0,option:router,192.0.2.1']],
  ['never sends its own address as router', ['dhcp-option=tag:range-1,option:router']],
  ['sends the name servers', ['dhcp-option=option:dns-server,192.0.2.53,192.0.2.54']],
  ['allows a lease for each address of its ranges', ['dhcp-lease-max=111']],
  ['ignores unknown machines', ['dhcp-ignore=tag:!ours', 'dhcp-mac=set:ours,3c:ec:ef:*:*:*']],
  [
    'sends firmware with PXE to iPXE by TFTP',
    [
      'dhcp-boot=tag:bios,tag:!ipxe,tag:!http,undionly.kpxe',
      'dhcp-boot=tag:efi-x64,tag:!ipxe,tag:!http,snponly.efi',
      'dhcp-boot=tag:efi-arm64,tag:!ipxe,tag:!http,ipxe-arm64.efi',
    ],
  ],
  ['sends iPXE to the boot service', ['dhcp-boot=tag:ipxe,http://192.0.2.1:8082/ipxe/']],
  [
    'sends the vendor class HTTPClient to firmware that boots by HTTP',
    [
      'dhcp-option-force=tag:http,tag:!ipxe,option:vendor-class,HTTPClient',
      'dhcp-option=tag:http-x64,tag:http,tag:!ipxe,option:bootfile-name,http://192.0.2.1:8082/ipxe.efi',
    ],
  ],
] as const) {
  test(`dnsmasq ${what}`, () => {
    for (const line of lines) assert.ok(own.includes(line), `${line} is missing in\n${own.join('\n')}`);
  });
}

test('the configuration for a shared dnsmasq sets no interfaces, no DNS and no lease file', () => {
  const shared = linesOf(configurationOf(settings, { ownProcess: false }));
  assert.equal(
    shared.find((line) => /^(port|interface|bind-dynamic|dhcp-leasefile)/.test(line)),
    undefined,
  );
  assert.ok(shared.includes('dhcp-hostsdir=/var/lib/dhcp/hosts'));
});

test('unknown machines get replies with --dhcp-unknown=answer', () => {
  const text = configurationOf({ ...settings, answersUnknown: true }, { ownProcess: true });
  assert.doesNotMatch(text, /dhcp-ignore=/);
});

test('TFTP is disabled without a TFTP directory', () => {
  const text = configurationOf({ ...settings, tftpRoot: undefined }, { ownProcess: true });
  assert.doesNotMatch(text, /tftp|kpxe/);
});

test('a boot file is bound to the MAC address of its machine', () => {
  const mac = '02:00:00:00:00:0a';
  assert.equal(hostLine(mac), '02:00:00:00:00:0a,set:ours,set:m-02000000000a\n');
  assert.equal(
    bootfileLine(mac, 'http://boot.test/boot/token/uki.efi'),
    'tag:m-02000000000a,tag:!pxe,tag:!ipxe,option:bootfile-name,http://boot.test/boot/token/uki.efi\n',
  );
});

test('the script of dnsmasq writes the last event of each address', () => {
  const directory = mkdtempSync(join(tmpdir(), 'metal-script-'));
  try {
    const events = join(directory, fileNames.leaseEvents);
    mkdirSync(events);
    const script = join(directory, fileNames.script);
    writeFileSync(script, leaseScript(directory), { mode: 0o755 });
    for (const [event, mac, ip] of [
      ['add', '02:00:00:00:00:01', '192.0.2.7'],
      ['old', '02:00:00:00:00:01', '192.0.2.7'],
      ['del', '02:00:00:00:00:02', '192.0.2.8'],
      ['tftp', '170775', '192.0.2.9'],
      ['add', '02:00:00:00:00:03', '../../escaped'],
      ['add', '02:00:00:00:00:04', ''],
      ['init', '', ''],
    ] as const)
      execFileSync(script, [event, mac, ip, '$(touch pwned) "; x'], {
        cwd: directory,
        env: { DNSMASQ_LEASE_EXPIRES: '1700000000' },
      });
    assert.deepEqual(readdirSync(directory).toSorted(), [fileNames.script, fileNames.leaseEvents].toSorted());
    assert.deepEqual(readdirSync(events).toSorted(), ['192.0.2.7', '192.0.2.8']);
    assert.equal(readFileSync(join(events, '192.0.2.7'), 'utf8'), 'old 02:00:00:00:00:01 192.0.2.7 1700000000\n');
  } finally {
    rmSync(directory, { recursive: true });
  }
});
