import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Image, imageChecksum } from './image-checksum.ts';

const url = 'https://images.example/os';
const rows: [title: string, image: Image, kind: string, algorithm?: string][] = [
  ['an oci URL has none', { url: 'oci://registry.example/os' }, 'none'],
  ['an oci URL with a checksum is invalid', { url: 'OCI://registry.example/os', checksum: 'c' }, 'invalid'],
  ['an oci URL comes before live-iso', { url: 'oci://r/os', checksum: 'c', format: 'live-iso' }, 'invalid'],
  ['a live ISO has none', { url, format: 'live-iso' }, 'none'],
  ['the checksum of a live ISO is ignored', { url, format: 'live-iso', checksum: 'c', checksumType: 'md5' }, 'none'],
  ['an image without a checksum is invalid', { url }, 'invalid'],
  ['an empty checksum is none', { url, checksum: '', checksumType: 'sha256' }, 'invalid'],
  ['the algorithm is that of the type', { url, checksum: 'c', checksumType: 'sha512' }, 'checksum', 'sha512'],
  ['without a type Ironic recognizes it', { url, checksum: 'c' }, 'checksum'],
  ['auto is the same as no type', { url, checksum: 'https://x/sums', checksumType: 'auto' }, 'checksum'],
];
for (const [title, image, kind, algorithm] of rows) {
  test(title, () => {
    const found = imageChecksum(image);
    assert.equal(found.kind, kind);
    assert.equal('algorithm' in found ? found.algorithm : undefined, algorithm);
  });
}
