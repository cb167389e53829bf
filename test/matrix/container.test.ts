import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { buildContainer, type Container, sbomPath } from '@metal/container/build-container.ts';
import { texts, type Variant } from '@metal/container/recipe.ts';
import * as z from 'zod';

const build = { version: '0.0.0-test', revision: 'abc123', createdSeconds: 86_400 };
const log = (line: string) => void process.stderr.write(`${line}\n`);
const directory = realpathSync(mkdtempSync(join(tmpdir(), 'metal-container-test-')));
after(() => rmSync(directory, { recursive: true, force: true }));
let containers: Readonly<Record<Variant, Container>>;

/** Each build is of both images; of one the first is unpacked, of the other the second. */
before(async () => {
  const [plain, dhcp] = [join(directory, 'one'), join(directory, 'other')];
  containers = {
    plain: await buildContainer({ out: plain, log, build }),
    dhcp: await buildContainer({ out: dhcp, log, build, variant: 'dhcp' }),
  };
});

const index = z.object({
  manifests: z.array(z.object({ digest: z.string(), annotations: z.record(z.string(), z.string()) })),
});
const manifest = z.object({
  config: z.object({ digest: z.string() }),
  layers: z.array(z.object({ digest: z.string(), size: z.number() })),
});
const imageConfig = z.object({
  created: z.string(),
  config: z.object({
    User: z.string(),
    Entrypoint: z.array(z.string()),
    Env: z.array(z.string()),
    Labels: z.record(z.string(), z.string()),
  }),
});

const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
const blob = ({ layoutDirectory }: Container, digest: string): unknown =>
  json(join(layoutDirectory, 'blobs', digest.replace(':', '/')));
const manifestOf = (container: Container) => manifest.parse(blob(container, container.digest));
const configOf = (container: Container) => imageConfig.parse(blob(container, manifestOf(container).config.digest));

/** Paths of everything but directories, with a slash in front. `readdir` also lists what it finds behind links. */
function filesOf({ rootDirectory }: Container): string[] {
  return readdirSync(rootDirectory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && realpathSync(entry.parentPath) === entry.parentPath)
    .map(({ parentPath, name }) => `/${relative(rootDirectory, join(parentPath, name))}`);
}

test('two builds have the same digests', () => {
  const { plain, dhcp } = containers;
  const [one, other] = [plain, dhcp].map(({ layoutDirectory }) => json(join(layoutDirectory, 'index.json')));
  assert.deepEqual(one, other);
  const { manifests } = index.parse(one);
  assert.deepEqual(
    manifests.map(({ digest, annotations }) => [annotations['org.opencontainers.image.ref.name'], digest]),
    [
      ['0.0.0-test', plain.digest],
      ['0.0.0-test-dhcp', dhcp.digest],
    ],
  );
  assert.deepEqual(
    manifestOf(plain).layers[0],
    manifestOf(dhcp).layers[0],
    'both images share the layer of Node and libraries',
  );
});

test('the image is within its budget', () => {
  const { plain } = containers;
  const compressed = manifestOf(plain).layers.reduce((sum, { size }) => sum + size, 0);
  const unpacked = filesOf(plain).reduce((sum, path) => sum + lstatSync(join(plain.rootDirectory, path)).size, 0);
  assert.ok(compressed < 60e6, `compressed: ${compressed} bytes`);
  assert.ok(unpacked < 150e6, `unpacked: ${unpacked} bytes`);
});

test('labels, user and entry point are those of the page', () => {
  const { created, config } = configOf(containers.plain);
  assert.equal(created, '1970-01-02T00:00:00Z');
  assert.equal(config.User, '65532:65532');
  assert.equal(configOf(containers.dhcp).config.User, '0:0');
  assert.deepEqual(config.Entrypoint, [
    '/usr/bin/node',
    '--disable-warning=ExperimentalWarning',
    '--max-semi-space-size=8',
    '--heap-growing-percent=25',
    '/opt/metal-operator/main.mjs',
  ]);
  assert.ok(!config.Env.some((variable) => variable.startsWith('HOME=')));
  assert.equal(config.Labels['org.opencontainers.image.version'], '0.0.0-test');
  assert.equal(config.Labels['org.opencontainers.image.revision'], 'abc123');
});

const component = z.object({
  name: z.string(),
  version: z.string().min(1),
  evidence: z.object({ occurrences: z.array(z.object({ location: z.string() })) }).optional(),
  components: z.array(z.object({ name: z.string(), version: z.string().min(1) })).optional(),
});
const sbom = z.object({ components: z.array(component) });

for (const variant of ['plain', 'dhcp'] as const) {
  test(`every file of the image belongs to one component or is listed as our own: ${variant}`, () => {
    const { rootDirectory } = containers[variant];
    const { components } = sbom.parse(json(join(rootDirectory, sbomPath)));
    const owned = components.flatMap(({ evidence }) => evidence?.occurrences.map(({ location }) => location) ?? []);
    const own = [sbomPath, ...Object.keys(texts)].map((path) => `/${path}`);
    assert.deepEqual(filesOf(containers[variant]).toSorted(), [...owned, ...own].toSorted());
    const partsOf = (name: string) => components.find((found) => found.name === name)?.components ?? [];
    for (const [name, part] of [
      ['metal-operator', 'undici'],
      ['metal-operator', '@kubernetes/client-node'],
      ['node', 'openssl'],
      ['butane', 'gopkg.in/yaml.v3'],
    ] as const)
      assert.ok(
        partsOf(name).some((found) => found.name === part),
        `${name} has ${part}`,
      );
  });

  test(`every library that a program needs is in the image: ${variant}`, () => {
    const { rootDirectory } = containers[variant];
    const files = filesOf(containers[variant]);
    const binaries = files.map((path) => join(rootDirectory, path)).filter(isElf);
    const needed = execFileSync('readelf', ['-d', ...binaries], { encoding: 'utf8' }).matchAll(/\(NEEDED\).*\[(.+)\]/g);
    const present = new Set(files.map((path) => basename(path)));
    assert.deepEqual(
      [...new Set([...needed].map(([, name = '']) => name))].filter((name) => !present.has(name)),
      [],
    );
  });

  test(`no file gives privileges: ${variant}`, () => {
    const { rootDirectory } = containers[variant];
    const modes = filesOf(containers[variant]).map(
      (path) => [path, lstatSync(join(rootDirectory, path)).mode] as const,
    );
    assert.deepEqual(
      modes.filter(([, mode]) => (mode & 0o6000) !== 0),
      [],
    );
  });
}

function isElf(path: string): boolean {
  return lstatSync(path).isFile() && readFileSync(path).toString('latin1', 0, 4) === '\x7fELF';
}

test('the image without DHCP has no shell', () => {
  const shells = filesOf(containers.plain).filter((path) => /\/(?:ba|da|z|k|c)?sh$|\/busybox/.test(path));
  assert.deepEqual(shells, []);
  const starting = ['/usr/bin/node', '/usr/bin/butane'];
  assert.deepEqual(
    filesOf(containers.plain)
      .filter((path) => /\/s?bin\//.test(path))
      .toSorted(),
    starting.toSorted(),
  );
});
