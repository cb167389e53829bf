import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controllersFor } from './controllers.ts';
import { readMetal3Config } from './options.ts';

const buildsImages = (flags: Readonly<Record<string, string>>): boolean =>
  controllersFor(readMetal3Config(flags, {})).some(({ name }) => name === 'preprovisioningimage');

test('PreprovisioningImages are built only if it is asked for and there is a ramdisk', () => {
  const asked = { 'build-preprov-image': 'true' };
  const ramdisk = { 'deploy-iso-url': 'http://images.test/ramdisk.iso' };
  assert.ok(buildsImages({ ...asked, ...ramdisk }));
  assert.ok(!buildsImages(asked));
  assert.ok(!buildsImages(ramdisk));
});
