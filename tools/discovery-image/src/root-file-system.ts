import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Entry } from './archive-entries.ts';
import { emptyLibrary } from './empty-library.ts';
import { type Inputs, packageRoot } from './inputs.ts';
import {
  type ModuleInfo,
  moduleInfo,
  moduleLists,
  moduleName,
  requireModules,
  withDependencies,
} from './kernel-modules.ts';
import { applets, emptyDirectories, emptyLibraries, links, modules, otherFiles, programs } from './recipe.ts';
import { sharedLibraries } from './shared-libraries.ts';
import { tool } from './tool.ts';

const linker = 'lib64/ld-linux-x86-64.so.2';

/** @param unpacked Directory of the unpacked packages. @param scratch Directory for intermediate files. */
export async function rootFileSystem(inputs: Inputs, unpacked: string, scratch: string): Promise<Entry[]> {
  const node = join(scratch, 'node');
  await tool('strip', ['-o', node, inputs.nodeProgram]);
  const inPackages = (path: string) => join(unpacked, path);
  const libraries = await sharedLibraries([node, ...Object.values(programs).map(inPackages)], [unpacked]);
  const chosenFile = async (name: string, from: string): Promise<Entry> => {
    const symbol = emptyLibraries[name];
    const path = symbol === undefined ? from : await emptyLibrary(name, symbol, scratch);
    return fileAt(`lib/x86_64-linux-gnu/${name}`, path);
  };
  return [
    ...(await ownFiles(join(packageRoot, 'rootfs'))),
    ...emptyDirectories.map((path) => ({ path, type: 'directory' as const })),
    await fileAt('bin/busybox', inPackages('bin/busybox')),
    await fileAt('bin/node', node),
    await fileAt(linker, inPackages(linker)),
    ...(await Promise.all(Object.entries(programs).map(([path, from]) => fileAt(path, inPackages(from))))),
    ...(await Promise.all(Object.entries(otherFiles).map(([path, from]) => fileAt(path, inPackages(from), false)))),
    ...(await Promise.all([...libraries].map(([name, from]) => chosenFile(name, from)))),
    ...applets.map((name) => linkAt(`bin/${name}`, '/bin/busybox')),
    ...Object.entries(links).map(([path, target]) => linkAt(path, target)),
    ...(await moduleFiles(unpacked, inputs.kernel.replace(/^linux-image-/, ''))),
    textAt('agent.mjs', inputs.agent),
    textAt('etc/image-version', Buffer.from(`${inputs.digest.slice(0, 12)}\n`)),
  ];
}

const linkAt = (path: string, target: string): Entry => ({ path, type: 'link', target });
const textAt = (path: string, content: Uint8Array): Entry => ({ path, type: 'file', executable: false, content });
const fileAt = async (path: string, from: string, executable = true): Promise<Entry> => ({
  path,
  type: 'file',
  executable,
  content: await readFile(from),
});

/** Files with a shebang are executable, because some tools lose file modes. */
async function ownFiles(folder: string): Promise<Entry[]> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  return Promise.all(
    entries.map(async ({ parentPath, name }) => {
      const content = await readFile(join(parentPath, name));
      const path = relative(folder, join(parentPath, name));
      return { path, type: 'file' as const, executable: content.toString('latin1', 0, 2) === '#!', content };
    }),
  );
}

async function moduleFiles(unpacked: string, release: string): Promise<Entry[]> {
  const folder = join(unpacked, 'lib/modules', release);
  const files = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.ko'));
  const pathOf = new Map(files.map((path) => [moduleName(path), path]));
  const builtIn = new Set((await readFile(join(folder, 'modules.builtin'), 'utf8')).split('\n').map(moduleName));
  const wanted = Object.values(modules).flatMap((names) => names.split(' '));
  requireModules(wanted, (name) => pathOf.has(name) || builtIn.has(name));
  const contents = new Map<string, Uint8Array>();
  const infos = new Map<string, ModuleInfo>();
  // Reads every module, because reading only the required ones would be sequential.
  for (const [name, path] of pathOf) {
    const content = await readFile(join(folder, path));
    contents.set(name, content);
    infos.set(name, moduleInfo(path, content.toString('latin1')));
  }
  const chosen = withDependencies(wanted, (name) => infos.get(name));
  const place = `lib/modules/${release}`;
  return [
    ...chosen.map(({ name, path }) => textAt(`${place}/${path}`, contents.get(name) ?? new Uint8Array())),
    ...Object.entries(moduleLists(chosen)).map(([name, text]) => textAt(`${place}/${name}`, Buffer.from(text))),
  ];
}
