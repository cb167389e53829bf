import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isIndex, layersOf, mediaTypes, pickOf } from './layers.ts';
import type { Document } from './registry-client.ts';

const digestOf = (letter: string): string => `sha256:${letter.repeat(64)}`;
const documentOf = (content: unknown, mediaType = ''): Document => ({
  digest: digestOf('0'),
  mediaType,
  bytes: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
});
const entry = (letter: string, more: object) => ({ digest: digestOf(letter), size: 1, ...more });
const platform = (architecture: string) => ({ platform: { architecture, os: 'linux' } });
const former = (cname: string, architecture: string) => ({ annotations: { cname, architecture } });

const picks: [string, object[], string, string | RegExp][] = [
  ['the entry of its platform', [entry('a', platform('arm64')), entry('b', platform('amd64'))], 'amd64', 'b'],
  ['the first of several', [entry('a', platform('amd64')), entry('b', platform('amd64'))], 'amd64', 'a'],
  [
    'the one that is annotated for booting from the network',
    [entry('a', platform('amd64')), entry('b', former('metal_pxe-amd64-1', 'amd64'))],
    'amd64',
    'b',
  ],
  [
    'none that is annotated for another architecture',
    [entry('a', former('metal_pxe-arm64-1', 'arm64')), entry('b', platform('amd64'))],
    'amd64',
    'b',
  ],
  ['none of another architecture', [entry('a', platform('arm64'))], 'amd64', /is for arm64; the server needs amd64/],
  ['none of an empty index', [], 'amd64', /no architecture that it names/],
];
for (const [title, manifests, architecture, expected] of picks) {
  test(`the entry of an index for a server is ${title}`, () => {
    const document = documentOf({ manifests });
    if (typeof expected === 'string') assert.equal(pickOf(document, architecture, 'os').digest, digestOf(expected));
    else assert.throws(() => pickOf(document, architecture, 'os'), { code: 'ArchitectureMissing', message: expected });
  });
}

const indexes: [string, Document, boolean][] = [
  ['an OCI index', documentOf({ mediaType: 'application/vnd.oci.image.index.v1+json', manifests: [] }), true],
  ['an OCI index that names no type', documentOf({ manifests: [] }), true],
  [
    'a Docker manifest list',
    documentOf({ mediaType: 'application/vnd.docker.distribution.manifest.list.v2+json', manifests: [] }),
    true,
  ],
  ['an index by its header', documentOf({}, 'application/vnd.oci.image.index.v1+json; charset=utf-8'), true],
  ['a manifest', documentOf({ mediaType: 'application/vnd.oci.image.manifest.v1+json', layers: [] }), false],
];
for (const [title, document, expected] of indexes) {
  test(`${title} is ${expected ? 'an' : 'no'} index`, () => assert.equal(isIndex(document, 'os'), expected));
}

for (const [layer, types] of Object.entries(mediaTypes)) {
  for (const mediaType of types) {
    test(`${mediaType} is a ${layer}, and the last of several counts`, () => {
      const layers = [entry('a', { mediaType }), entry('b', { mediaType }), entry('c', { mediaType: 'text/plain' })];
      assert.deepEqual(layersOf(documentOf({ layers }), 'os'), {
        [layer]: { mediaType, digest: digestOf('b'), size: 1 },
      });
    });
  }
}

const malformed: [string, unknown][] = [
  ['no JSON', '<html>'],
  ['a list', []],
  ['layers without a digest', { layers: [{ mediaType: 'x', size: 1 }] }],
  ['a digest that leads elsewhere', { layers: [{ mediaType: 'x', size: 1, digest: 'sha256:../../etc/passwd' }] }],
  ['a length below zero', { layers: [{ mediaType: 'x', size: -1, digest: digestOf('a') }] }],
  ['a manifest of the first version', { schemaVersion: 1, fsLayers: [] }],
];
for (const [title, content] of malformed) {
  test(`a manifest that is ${title} is rejected`, () =>
    assert.throws(() => layersOf(documentOf(content), 'os'), { code: 'ImageMalformed' }));
}
