import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checksumIn, checksumOf } from './checksum.ts';

const [md5, sha256, sha512] = ['a'.repeat(32), 'b'.repeat(64), 'c'.repeat(128)];
const url = 'https://images.test/os/disk.qcow2?signed=1';

const literal: [string, Parameters<typeof checksumOf>[1], string][] = [
  [md5, undefined, 'md5'],
  [sha256.toUpperCase(), 'auto', 'sha256'],
  [sha512, 'sha512', 'sha512'],
];
for (const [text, type, algorithm] of literal) {
  test(`${text.length} digits and type ${type ?? 'none'} are ${algorithm}`, () =>
    assert.deepEqual(checksumOf(text, type), { algorithm, hex: text.toLowerCase() }));
}

test('a checksum of another length than its type, and one that is no hex, are refused', () => {
  assert.throws(() => checksumOf(md5, 'sha256'), { code: 'DiskImageChecksumInvalid' });
  assert.throws(() => checksumOf('ab', undefined), { code: 'DiskImageChecksumInvalid' });
  assert.throws(() => checksumOf('x'.repeat(64), undefined), { code: 'DiskImageChecksumInvalid' });
});

const files: [string, string][] = [
  ['coreutils', `${md5.replaceAll('a', 'd')}  other.qcow2\n${sha256}  ./disk.qcow2\n`],
  ['coreutils, binary mode', `${sha256} *disk.qcow2`],
  ['BSD', `SHA256 (disk.qcow2) = ${sha256}\n`],
  ['one checksum alone', `# signed\n${sha256}\n`],
];
for (const [what, file] of files) {
  test(`a checksum file has the checksum of the image: ${what}`, () =>
    assert.deepEqual(checksumIn(file, url, undefined), { algorithm: 'sha256', hex: sha256 }));
}

test('a checksum file without the image, or with two checksums for it, is refused', () => {
  assert.throws(() => checksumIn(`${sha256}  other\n${sha256}  b`, url, undefined), /no line for disk.qcow2/);
  assert.throws(
    () => checksumIn(`${sha256}  disk.qcow2\n${md5}  disk.qcow2`, url, undefined),
    /several checksums for disk.qcow2/,
  );
});
