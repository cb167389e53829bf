import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { type Artefact, fileArtefact, urlArtefact } from '../../images/artefact.ts';
import type { BootImage } from '../../images/boot-plan.ts';
import { publishedOf } from './published-boot-config.ts';

const boot: ServerBootConfiguration = {
  apiVersion: ServerBootConfiguration.apiVersion,
  kind: ServerBootConfiguration.kind,
  metadata: { name: 'b', namespace: 'n' },
  spec: { serverRef: { name: 's' } },
};
const { apiVersion, kind } = Server;
const server = { apiVersion, kind, metadata: { name: 's' }, spec: { systemUUID: 'u' } } as Server; // rest has defaults

const web = (location: string): Artefact => urlArtefact(new URL(location), fetch);
const specOf = (artefacts: Partial<BootImage>, name = 'os'): unknown =>
  publishedOf(boot, server, { method: 'iPXE', image: { name, commandLine: '', ...artefacts } }, 'http://boot.test')
    ?.spec;

test('files of another web server are published with their URLs', () => {
  assert.deepEqual(specOf({ kernel: web('http://files.test/k'), initrd: web('https://files.test/i') }), {
    systemUUID: 'u',
    systemIPs: [],
    kernelURL: 'http://files.test/k',
    initrdURL: 'https://files.test/i',
  });
});

test('local files are not published, as they are served by token only', () =>
  assert.equal(specOf({ kernel: fileArtefact('/srv/k'), initrd: fileArtefact('/srv/i') }), undefined));

test('a URL with a password is not published', () =>
  assert.equal(
    specOf({ kernel: web('http://a:hunter2@files.test/k'), initrd: web('http://files.test/i') }),
    undefined,
  ));

test('a URL with a query is not published', () =>
  assert.equal(
    specOf({ kernel: web('http://files.test/k?signature=hunter2'), initrd: web('http://files.test/i') }),
    undefined,
  ));

test('an image with a digest is published with the digest', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const layer = { ...fileArtefact('/cache/k'), digest };
  const name = `registry.test/org/os@${digest}`;
  assert.deepEqual(specOf({ kernel: layer, initrd: layer }, name), {
    systemUUID: 'u',
    systemIPs: [],
    kernelURL: `http://boot.test/image?imageName=registry.test%2Forg%2Fos&version=${encodeURIComponent(digest)}&layerDigest=${encodeURIComponent(digest)}`,
    initrdURL: `http://boot.test/image?imageName=registry.test%2Forg%2Fos&version=${encodeURIComponent(digest)}&layerDigest=${encodeURIComponent(digest)}`,
  });
});
