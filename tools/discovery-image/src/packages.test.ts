import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packagesIn } from './packages.ts';
import { endOfSections } from './unified-kernel-image.ts';

const [one, other] = ['a'.repeat(64), 'b'.repeat(64)];

test('versions and digests come from the package lists of apt', () => {
  const uris = `'http://deb.test/p/pciutils/libpci3_3.9.0-4_amd64.deb' libpci3_1%3a3.9.0-4_amd64.deb 67432 SHA256:${one}
'http://deb.test/h/hdparm/hdparm_9.65_amd64.deb' hdparm_9.65_amd64.deb 116200 SHA256:${other}
`;
  assert.deepEqual(packagesIn(uris), [
    { name: 'hdparm', version: '9.65', sha256: other, fileName: 'hdparm_9.65_amd64.deb' },
    { name: 'libpci3', version: '1:3.9.0-4', sha256: one, fileName: 'libpci3_1%3a3.9.0-4_amd64.deb' },
  ]);
});

test('sections are added behind the last section of the EFI stub, independent of the order in the list', () => {
  const table = `
Idx Name          Size      VMA               LMA               File off  Algn  Flags
  0 .text         0000c000  0000000000004000  0000000000004000  00000400  2**4  CONTENTS
  1 .sdmagic      00000030  0000000000013000  0000000000013000  00010400  2**2  CONTENTS
  2 .reloc        0000000c  0000000000012000  0000000000012000  00010600  2**2  CONTENTS
`;
  assert.equal(endOfSections(table), 0x13030);
});
