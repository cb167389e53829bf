import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeployImages } from '../../options.ts';
import { architectureOf, builtImage } from './built-image.ts';

const images: DeployImages = {
  iso: { aarch64: 'http://i/arm.iso' },
  ramdisk: { '': 'http://i/own.initrd' },
  kernel: { '': 'http://i/own.kernel' },
};

const build = (acceptFormats: ('iso' | 'initrd')[], architecture: string) =>
  builtImage({ acceptFormats, architecture }, images, 'x86_64');

test('the image without an architecture is that of the architecture of the operator', () => {
  const own = { format: 'initrd', imageUrl: 'http://i/own.initrd', kernelUrl: 'http://i/own.kernel' };
  assert.deepEqual(build(['iso', 'initrd'], 'x86_64'), own);
  assert.ok('problem' in build(['initrd'], 'aarch64'));
});

test('an accepted format with an image for the architecture is chosen', () => {
  assert.deepEqual(build(['initrd', 'iso'], 'aarch64'), {
    format: 'iso',
    imageUrl: 'http://i/arm.iso',
    kernelUrl: undefined,
  });
});

test('without an image the problem names formats and architecture', () => {
  const built = build(['iso', 'initrd'], 'ppc64le');
  assert.ok('problem' in built);
  assert.match(built.problem, /iso or initrd for architecture "ppc64le"/);
});

test('architectures have the names of Linux', () => {
  assert.deepEqual(['x64', 'arm64', 'riscv64'].map(architectureOf), ['x86_64', 'aarch64', 'riscv64']);
});
