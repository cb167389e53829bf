import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Component, part } from './component.ts';
import { modulesIn } from './go-modules.ts';
import { sbomOf } from './sbom.ts';

const component: Component = {
  type: 'application',
  name: 'node',
  version: '26.0.0',
  licenses: ['MIT'],
  entries: [
    { path: 'usr/bin/node', type: 'file', executable: true, content: Buffer.from('x') },
    { path: 'usr/bin', type: 'directory' },
  ],
  parts: [part({ name: 'v8', version: '14', licenses: ['see its text'] })],
};
const options = { name: 'metal-operator', version: '1', createdSeconds: 86_400, components: [component] };

test('the SBOM lists each component with its files and parts, and has the same bytes each time', () => {
  const text = sbomOf(options);
  assert.equal(sbomOf(options), text);
  assert.notEqual(sbomOf({ ...options, version: '2' }), text);
  const { serialNumber, metadata, components } = JSON.parse(text);
  assert.match(serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(metadata.timestamp, '1970-01-02T00:00:00Z');
  assert.deepEqual(components, [
    {
      type: 'application',
      'bom-ref': 'node@26.0.0',
      name: 'node',
      version: '26.0.0',
      licenses: [{ license: { id: 'MIT' } }],
      components: [
        {
          type: 'library',
          'bom-ref': 'node@26.0.0#v8@14',
          name: 'v8',
          version: '14',
          licenses: [{ license: { name: 'see its text' } }],
        },
      ],
      evidence: { occurrences: [{ location: '/usr/bin/node' }] },
    },
  ]);
});

test('the modules of a Go program come from what Go recorded in it', () => {
  const report = `/cache/butane: go1.26.8
\tpath\tgithub.com/coreos/butane/internal
\tmod\tgithub.com/coreos/butane\tv0.26.0\th1:abc=
\tdep\tgopkg.in/yaml.v3\tv3.0.1\th1:def=
\tbuild\t-compiler=gc
`;
  assert.deepEqual(
    modulesIn(report).map(({ name, version, purl }) => [name, version, purl]),
    [
      ['go', '1.26.8', undefined],
      ['github.com/coreos/butane', 'v0.26.0', 'pkg:golang/github.com/coreos/butane@v0.26.0'],
      ['gopkg.in/yaml.v3', 'v3.0.1', 'pkg:golang/gopkg.in/yaml.v3@v3.0.1'],
    ],
  );
});
