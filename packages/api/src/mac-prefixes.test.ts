import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readMacPrefixes } from './mac-prefixes.ts';

function database(text: string, warn?: (text: string) => void) {
  const directory = mkdtempSync(join(tmpdir(), 'mac-prefixes-'));
  try {
    const path = join(directory, 'prefixes.yaml');
    writeFileSync(path, text);
    return readMacPrefixes(path, warn);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const entry = (prefix: string, extra = '') =>
  `  - macPrefix: ${prefix}\n    protocol: Redfish\n    port: 443\n    type: bmc\n    defaultCredentials: [{username: root, password: "007"}]\n${extra}`;

test('the longest prefix wins, whatever the order of the file', () => {
  const prefixes = database(
    `macPrefixes:\n${entry('3C', '    manufacturer: short\n')}${entry('3CECEF', '    manufacturer: long\n')}`,
  );
  assert.equal(prefixes.find('3c:ec:ef:00:00:01')?.manufacturer, 'long');
  assert.equal(prefixes.find('3C-00-00-00-00-01')?.manufacturer, 'short');
  assert.equal(prefixes.find('aa:00:00:00:00:01'), undefined);
});

test('unquoted prefixes and passwords keep their digits', () => {
  const prefixes = database(`macPrefixes:\n${entry('001122')}${entry('1e5')}`);
  assert.equal(prefixes.find('00:11:22:33:44:55')?.defaultCredentials?.[0]?.password, '007');
  assert.equal(prefixes.find('1E:5A:22:33:44:55')?.macPrefix, '1E5');
});

test('a console may be left out, and its type is written in any case', () => {
  const prefixes = database(`macPrefixes:\n${entry('AA')}${entry('BB', '    console: {type: ssh, port: 22}\n')}`);
  assert.equal(prefixes.find('AA:00:00:00:00:00')?.console, undefined);
  assert.deepEqual(prefixes.find('BB:00:00:00:00:00')?.console, { type: 'SSH', port: 22 });
});

test('an error names the entry and the field', () => {
  assert.throws(
    () => database(`macPrefixes:\n${entry('AA')}${entry('XY')}`),
    /macPrefixes\[1\]\.macPrefix: expected 1 to 12 hex digits/,
  );
  assert.throws(
    () => database(`macPrefixes:\n${entry('AA').replace('443', 'many')}`),
    /macPrefixes\[0\]\.port: expected a number, found a text$/,
  );
  assert.throws(
    () => readMacPrefixes('/nonexistent/prefixes.yaml'),
    /\/nonexistent\/prefixes\.yaml cannot be read \(ENOENT\)/,
  );
  assert.throws(
    () => database('macPrefixes: ["secret'),
    (error: Error) => {
      assert.match(error.message, /is no YAML at line 1, column \d+ \(\w+\)$/);
      return !error.message.includes('secret');
    },
  );
});

const fingerprint = 'AB:'.repeat(31) + 'CD';

test('an entry may name the trust in certificates as the BMC object does', () => {
  const prefixes = database(
    `macPrefixes:\n${entry('AA', `    tls: {fingerprint: "${fingerprint}"}\n`)}${entry('BB', '    tls: {insecureSkipVerify: true}\n')}`,
  );
  const trust = ['AA', 'BB'].map((prefix) => prefixes.find(`${prefix}:00:00:00:00:00`)?.tls);
  assert.deepEqual(trust, [{ fingerprint }, { insecureSkipVerify: true }]);
});

for (const [tls, message] of [
  ['{fingerprint: "AB:CD"}', 'fingerprint: expected a SHA-256 fingerprint, 64 hex digits, found "AB:CD"'],
  ['{insecureSkipVerify: yes}', 'insecureSkipVerify: expected true, false, found "yes"'],
  ['{caBundle: bmc-ca}', 'caBundle: expected certificates as PEM (-----BEGIN CERTIFICATE-----), found no certificate'],
  ['on', ' expected a mapping, found a text'],
] as const)
  test(`the trust ${tls} of an entry is an error with expectation and finding`, () => {
    const at = tls.startsWith('{') ? 'macPrefixes[0].tls.' : 'macPrefixes[0].tls:';
    assert.throws(
      () => database(`macPrefixes:\n${entry('AA', `    tls: ${tls}\n`)}`),
      (error: Error) => error.message.endsWith(`: ${at}${message}`),
    );
  });

test('an unknown key of the trust of an entry is a warning that suggests the right one', () => {
  const warnings: string[] = [];
  database(`macPrefixes:\n${entry('AA', `    tls: {fingerprnt: "${fingerprint}"}\n`)}`, (text) => warnings.push(text));
  assert.match(warnings.join(), /: macPrefixes\[0\]\.tls\.fingerprnt: unknown key; did you mean fingerprint\?$/);
});

test('unknown keys are one warning that suggests the right ones, and anchors merge, as in v0.7.0', () => {
  const warnings: string[] = [];
  const prefixes = database(
    'x-default: &default {protocol: Redfish, port: 443, type: bmc}\n' +
      'macPrefixes:\n  - {<<: *default, macPrefix: AA, name: site, manufactorer: x}\n',
    (text) => warnings.push(text),
  );
  assert.deepEqual([prefixes.find('AA:00:00:00:00:00')?.port, prefixes.count], [443, 1]);
  assert.equal(warnings.length, 1);
  assert.match(
    warnings[0] ?? '',
    /^--mac-prefixes-file: \S+: x-default: unknown key; .*; macPrefixes\[0\]\.name: unknown key; .*; macPrefixes\[0\]\.manufactorer: unknown key; did you mean manufacturer\?$/,
  );
});

test('a missing key is an error that names it, and the unknown key beside it', () => {
  assert.throws(
    () => database(`macPrefixes:\n${entry('AA').replace('    type:', '    typ:')}`),
    /macPrefixes\[0\]\.typ: unknown key; did you mean type\?; macPrefixes\[0\]\.type: expected a text, found nothing$/,
  );
});

test('no file is an empty database', () => {
  assert.equal(readMacPrefixes(undefined).find('AA:00:00:00:00:00'), undefined);
});
