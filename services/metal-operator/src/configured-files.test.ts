import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readConfig } from './command-line.ts';
import { checkConfiguredFiles } from './configured-files.ts';

const directory = await mkdtemp(join(tmpdir(), 'metal-files-'));
after(() => rm(directory, { recursive: true }));

const images = 'probe-os: {kernel: k, initrd: i}\n';

/** Resolves with the warnings. */
const check = (options: Record<string, string>): Promise<string[]> =>
  checkConfiguredFiles(
    readConfig(
      Object.entries({
        'probe-image': 'p',
        'probe-os-image': 'ghcr.io/example/probe:1',
        'registry-url': 'http://192.0.2.1',
        ...options,
      }).map(([flag, value]) => `--${flag}=${value}`),
      {},
    ),
  );

async function fileWith(text: string): Promise<string> {
  const path = join(directory, 'file');
  await writeFile(path, text);
  return path;
}

const files: readonly [option: string, text: string, message: RegExp][] = [
  ['mac-prefixes-file', 'macPrefixes: secret', /: macPrefixes: expected a list, found a text$/],
  [
    'boot-images',
    '{kind: Secret, data: {password: secret}}',
    /: data\.password: unknown key; .*; kind: expected a mapping, found a text; data: must have/,
  ],
  ['boot-images', 'os: [', / is no YAML at line 1, column \d+ \(\w+\)$/],
  ['registry-credentials-file', '{"auths": "secret"}', /: it is no docker config\.json$/],
  ['bmc-ca-file', 'text', /: expected certificates as PEM .*, found no certificate$/],
  [
    'registry-ca-file',
    '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----',
    /an invalid certificate \(number 1\)/,
  ],
  ['dns-record-template-path', '{{ .Nme', /^--dns-record-template-path: .*file, /],
  ['discovery-ignition-path', 'a: {{ .Flag }}', /file: ignition template: \{\{ \.Flag \}\} is not understood/],
];
for (const [option, text, message] of files)
  test(`the text ${JSON.stringify(text)} in the file of --${option} is an error that names option, file and key`, async () => {
    const path = await fileWith(text);
    await assert.rejects(check({ [option]: path }), (error: Error) => {
      assert.ok(error.message.startsWith(`--${option}: `), error.message);
      assert.match(error.message, message);
      return error.name === 'ConfigError' && !error.message.includes('secret');
    });
  });

for (const option of ['mac-prefixes-file', 'boot-images', 'registry-credentials-file', 'dns-record-template-path'])
  test(`a missing file of --${option} is an error`, async () => {
    await assert.rejects(check({ [option]: '/nonexistent' }), new RegExp(`^ConfigError: --${option}: .*/nonexistent`));
  });

const warned: readonly [option: string, text: string, warning: RegExp][] = [
  ['mac-prefixes-file', 'macPrefix: []', /: macPrefix: unknown key; did you mean macPrefixes\?$/],
  [
    'boot-images',
    'ghcr.io/example/probe:1: {kernel: k, initrd: i, cmdlin: x}',
    /:1\.cmdlin: unknown key; did you mean cmdline\?$/,
  ],
];
for (const [option, text, warning] of warned)
  test(`the text ${JSON.stringify(text)} in the file of --${option} is a warning that names option, file and key`, async () => {
    const own = (await check({ [option]: await fileWith(text) })).filter((found) => found.startsWith(`--${option}: `));
    assert.equal(own.length, 1);
    assert.match(own[0] ?? '', warning);
  });

const discoveryImages: readonly [image: string, options: Record<string, string>, message?: RegExp][] = [
  ['probe-os', {}],
  [
    'probe-so',
    {},
    /"probe-so" is no name of --boot-images \(.*file names probe-os\), and as an OCI image it lies in docker\.io/,
  ],
  ['probe-so', { 'allowed-registries': 'docker.io' }],
  ['registry.test/probe:1', {}, /lies in registry\.test, which --allowed-registries does not name$/],
  ['registry.test/probe:1', { 'allowed-registries': 'registry.test' }],
  ['Probe OS', {}, /it is no reference of an OCI image either$/],
  ['http://192.0.2.1/probe/', {}],
  ['http://u:p@192.0.2.1/probe/', {}, /has a user name or password/],
  ['file:///srv/probe/', {}, /is not below a directory that --boot-file-roots names/],
  ['nosuch', { components: 'controllers,registry' }],
  ['bmc://u:p@192.0.2.1/x', {}, /^--probe-os-image: image "bmc:\/\/…@192/],
];
for (const [image, options, message] of discoveryImages)
  test(`--probe-os-image=${image} with ${JSON.stringify(options)} is ${message === undefined ? 'accepted' : 'a warning'}`, async () => {
    const warnings = await check({ 'boot-images': await fileWith(images), 'probe-os-image': image, ...options });
    assert.equal(warnings.length, message === undefined ? 0 : 1);
    assert.match(warnings.join(), message ?? /^$/);
  });

test('an invalid URL of --probe-os-image is an error without its credentials', async () => {
  await assert.rejects(check({ 'probe-os-image': 'http://u:p@[192.0.2.1/' }), {
    name: 'ConfigError',
    message: '--probe-os-image: "http://…@[192.0.2.1/" is no valid URL',
  });
});
