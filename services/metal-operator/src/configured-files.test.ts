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

async function check(options: Record<string, string>): Promise<void> {
  await checkConfiguredFiles(
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
}

async function fileWith(text: string): Promise<string> {
  const path = join(directory, 'file');
  await writeFile(path, text);
  return path;
}

const files: readonly [option: string, text: string, message: RegExp][] = [
  ['mac-prefixes-file', 'macPrefix: []', /: macPrefix: unknown key; did you mean macPrefixes\?$/],
  ['boot-images', 'os: {kernel: k, initrd: i, cmdlin: x}', /: os\.cmdlin: unknown key; did you mean cmdline\?$/],
  ['boot-images', 'os: [', / is no YAML at line 1, column \d+ \(\w+\)$/],
  ['registry-credentials-file', '{"auths": "secret"}', /: it is no docker config\.json$/],
  ['bmc-ca-file', 'text', /: the file contains no certificate; expected certificates as PEM/],
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
];
for (const [image, options, message] of discoveryImages)
  test(`--probe-os-image=${image} with ${JSON.stringify(options)} is ${message === undefined ? 'accepted' : 'rejected'}`, async () => {
    const checked = check({ 'boot-images': await fileWith(images), 'probe-os-image': image, ...options });
    if (message === undefined) await checked;
    else await assert.rejects(checked, message);
  });
