import { readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Entry } from '@metal/discovery-image/archive-entries.ts';
import { build, type BuildOptions, type Metafile } from 'esbuild';
import type { Component } from './component.ts';
import { bundledPackages, licenceTexts } from './bundled-packages.ts';
import { placeOfBundle } from './recipe.ts';

export const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** What the image reports about itself. */
export interface Build {
  readonly version: string;
  /** Commit. */
  readonly revision: string;
}

export interface Bundle {
  readonly component: Component;
  /** Source maps, which are not in the image. */
  readonly maps: readonly Entry[];
}

const common = {
  absWorkingDir: repository,
  bundle: true,
  write: false,
  metafile: true,
  platform: 'node',
  target: 'node26',
  outdir: join(repository, 'out'),
  sourcemap: 'external',
  legalComments: 'none',
  // Without it, dynamic imports of packages for both get the CommonJS build, without named exports.
  mainFields: ['module', 'main'],
  // Native parts of ssh2, which works without.
  external: ['cpu-features', '*.node'],
  logLevel: 'error',
} satisfies BuildOptions;

/** Not minified, so that stack traces can be read. Names in the banner must not collide with those of bundled code. */
const program = (own: Build): BuildOptions => ({
  entryPoints: { main: 'services/metal-operator/src/main.ts' },
  format: 'esm',
  splitting: true,
  outExtension: { '.js': '.mjs' },
  chunkNames: '[name]-[hash]',
  define: { METAL_BUILD: JSON.stringify({ version: own.version, revision: own.revision }) },
  banner: {
    js: "import { createRequire as createRequireOfBundle } from 'node:module';\nconst require = createRequireOfBundle(import.meta.url);",
  },
});

/** `require` loads this library by its name, and only for kubeconfigs that need it, so it stays a package of its own. */
const clientLibrary: BuildOptions = {
  stdin: {
    contents: "export { KubeConfig } from '@kubernetes/client-node';",
    resolveDir: join(repository, 'packages/kube'),
  },
  entryNames: 'node_modules/@kubernetes/client-node/index',
  format: 'cjs',
};

/** Bundles the operator with all its imports. */
export async function bundleOperator(own: Build): Promise<Bundle> {
  const results = await Promise.all([program(own), clientLibrary].map((part) => build({ ...common, ...part })));
  const files = results.flatMap(({ outputFiles = [] }) => outputFiles);
  const all = files.map(({ path, contents }): Entry => entryOf(relative(common.outdir, path), contents));
  const parts = await bundledPackages(inputsOf(results), repository);
  const licence = await readFile(join(repository, 'LICENSE'));
  const documents = 'usr/share/doc/metal-operator';
  const component: Component = {
    type: 'application',
    name: 'metal-operator',
    version: own.version,
    licenses: ['Apache-2.0'],
    entries: [
      ...all.filter(({ path }) => !path.endsWith('.map')),
      { path: `${documents}/copyright`, type: 'file', executable: false, content: licence },
      {
        path: `${documents}/licenses-of-bundled-packages`,
        type: 'file',
        executable: false,
        content: Buffer.from(await licenceTexts(parts, repository)),
      },
    ],
    parts: parts.map(({ component: bundled }) => bundled),
  };
  return { component, maps: all.filter(({ path }) => path.endsWith('.map')).map(besideTheImage) };
}

const entryOf = (path: string, content: Uint8Array): Entry => ({
  path: join(placeOfBundle, path),
  type: 'file',
  executable: false,
  content,
});

const besideTheImage = (entry: Entry): Entry => ({ ...entry, path: basename(entry.path) });

/** Files whose code is in the output; the others were shaken off. */
const inputsOf = (results: readonly { metafile?: Metafile | undefined }[]): string[] =>
  results.flatMap(({ metafile }) =>
    Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
    ),
  );
