import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleAgent } from './bundle.ts';
import { type DebianPackage, kernelPackage, resolvePackages } from './packages.ts';
import { packages } from './recipe.ts';
import { tool } from './tool.ts';

export const packageRoot = dirname(dirname(fileURLToPath(import.meta.url)));
const project = join(packageRoot, '../..');
const agentEntry = join(project, 'services/probe/src/agent/main.ts');
const nodeProgram = join(project, 'node_modules/node/bin/node');

/** All inputs of the image. */
export interface Inputs {
  readonly kernel: string;
  readonly packages: readonly DebianPackage[];
  readonly agent: Uint8Array;
  readonly nodeProgram: string;
  readonly tools: readonly string[];
  /** SHA-256 over all inputs and the code that builds the image. */
  readonly digest: string;
}

export async function readInputs(): Promise<Inputs> {
  const kernel = await kernelPackage();
  const resolved = await resolvePackages([kernel, ...packages]);
  const agent = await bundleAgent(agentEntry);
  const versions = await Promise.all(['zstd', 'objcopy', 'strip'].map((name) => tool(name, ['--version'])));
  const tools = versions.map((text) => text.split('\n')[0] ?? '');
  const hash = createHash('sha256').update(JSON.stringify({ resolved, tools }));
  hash.update(agent).update(await readFile(nodeProgram));
  for (const file of await ownFiles()) hash.update(`${file}\0`).update(await readFile(join(packageRoot, file)));
  return { kernel, packages: resolved, agent, nodeProgram, tools, digest: hash.digest('hex') };
}

/** Code and files of this package, without its tests. */
async function ownFiles(): Promise<string[]> {
  const all = await Promise.all(['src', 'rootfs'].map((folder) => filesBelow(join(packageRoot, folder))));
  return all
    .flat()
    .filter((file) => !/\.(test|e2e)\.ts$/.test(file))
    .toSorted();
}

/** Paths of files below a folder, relative to the package. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(packageRoot, join(entry.parentPath, entry.name)));
}
