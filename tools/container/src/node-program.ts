import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ImageError } from '@metal/discovery-image/errors.ts';
import { tool } from '@metal/discovery-image/tool.ts';
import { cacheDirectory } from '@metal/process/cache-directory.ts';
import { type Component, hashOfIntegrity, part } from './component.ts';
import type { ImageLock } from './image-lock.ts';

/**
 * Node of the npm registry. The package `node` fetches it in a script, so package-lock.json has no digest of it; image-lock.json
 * has. Its symbols are removed, which are 33 MB.
 */
export async function nodeComponent({ node }: ImageLock, scratch: string): Promise<Component> {
  const tarball = await fetchNode(node);
  const directory = join(scratch, 'node');
  await mkdir(directory);
  await tool('tar', ['-xzf', tarball, '-C', directory, 'package/bin/node', 'package/LICENSE']);
  const program = join(directory, 'package/bin/node');
  await tool('strip', [program]);
  const versions = await tool(program, ['--print', 'JSON.stringify(process.versions)']);
  return {
    type: 'application',
    name: 'node',
    version: node.version,
    purl: `pkg:npm/${node.name}@${node.version}`,
    licenses: ['MIT'],
    ...optionalHash(node.integrity),
    entries: [
      { path: 'usr/bin/node', type: 'file', executable: true, content: await readFile(program) },
      {
        path: 'usr/share/doc/node/copyright',
        type: 'file',
        executable: false,
        content: await readFile(join(directory, 'package/LICENSE')),
      },
    ],
    parts: partsOf(versions),
  };
}

function optionalHash(integrity: string): Pick<Component, 'hash'> {
  const hash = hashOfIntegrity(integrity);
  return hash === undefined ? {} : { hash };
}

/** V8, OpenSSL, libuv and so on; `modules` and the like are versions of interfaces. */
function partsOf(versions: string): Component[] {
  // Written by Node.
  const found = JSON.parse(versions) as Record<string, string>;
  const interfaces = new Set(['node', 'modules', 'napi', 'cldr', 'tz', 'unicode']);
  return Object.entries(found)
    .filter(([name, version]) => !interfaces.has(name) && version !== '')
    .map(([name, version]) => part({ name, version, licenses: ['see /usr/share/doc/node/copyright'] }));
}

/** The path of its package in the cache. */
async function fetchNode(node: ImageLock['node']): Promise<string> {
  const directory = join(cacheDirectory(), 'node-packages');
  const path = join(directory, `${node.name}-${node.version}.tgz`);
  if (existsSync(path) && (await integrityOf(path)) === node.integrity) return path;
  await mkdir(directory, { recursive: true });
  const partial = await mkdtemp(join(directory, 'partial-'));
  try {
    await tool('npm', ['pack', `${node.name}@${node.version}`, '--silent', `--pack-destination=${partial}`], partial);
    const fetched = join(partial, `${node.name}-${node.version}.tgz`);
    const found = await integrityOf(fetched);
    if (found !== node.integrity)
      throw new ImageError(
        'DownloadFailed',
        `${node.name} ${node.version} of the npm registry has the digest ${found}; expected ${node.integrity}`,
      );
    await rename(fetched, path);
    return path;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

const integrityOf = async (path: string): Promise<string> =>
  `sha512-${createHash('sha512')
    .update(await readFile(path))
    .digest('base64')}`;
