import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, lstat, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { download, sizeOf } from './download.ts';
import type { Archive } from './envtest.ts';

const run = promisify(execFile);
const progressEveryMs = 5_000;
const folder = 'controller-tools/envtest';
const programs = ['etcd', 'kube-apiserver', 'kubectl'];

export interface FetchOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** The file in the cache of which a cut download is continued. */
export const partOf = ({ directory }: Archive): string => `${directory}.tar.gz.part`;

/** Downloads the archive, verifies its digest, and only then unpacks it. The directory is complete or absent. */
export async function fetchArchive(archive: Archive, options: FetchOptions): Promise<void> {
  const part = partOf(archive);
  if (archive.url === '') throw new Error('ENVTEST_DOWNLOAD_URL is empty, which disables it');
  options.log(
    `downloading etcd, kube-apiserver and kubectl (envtest ${archive.version}) from ${withoutPassword(archive.url)}`,
  );
  await downloadVerified(archive, part, options);
  const partial = `${archive.directory}.partial-${process.pid}`;
  await mkdir(partial, { recursive: true, mode: 0o700 });
  try {
    await unpack(part, partial, options);
    await rm(archive.directory, { recursive: true, force: true });
    await rename(partial, archive.directory);
  } finally {
    await Promise.all([partial, part].map((path) => rm(path, { recursive: true, force: true })));
  }
}

function withoutPassword(text: string): string {
  if (!URL.canParse(text))
    throw new Error('expected a URL of http or https in ENVTEST_DOWNLOAD_URL, found something else');
  return Object.assign(new URL(text), { username: '', password: '' }).href;
}

/** A part with other content, of a mirror for example, fails only at its end: then the whole file is downloaded once. */
async function downloadVerified(archive: Archive, part: string, options: FetchOptions): Promise<void> {
  const hadPart = (await sizeOf(part)) > 0;
  await download({ url: archive.url, path: part, ...options, onProgress: reporter(options.log) });
  const found = await sha512Of(part);
  if (found === archive.sha512) return;
  await rm(part, { force: true });
  if (hadPart) return downloadVerified(archive, part, options);
  throw new Error(`expected the SHA-512 ${archive.sha512}, found ${found}`);
}

async function sha512Of(path: string): Promise<string> {
  const hash = createHash('sha512');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

function reporter(log: (line: string) => void): (bytes: number, total: number) => void {
  let reportedAt = performance.now();
  return (bytes, total) => {
    if (bytes !== total && performance.now() - reportedAt < progressEveryMs) return;
    reportedAt = performance.now();
    log(`downloaded ${megabytes(bytes)}${Number.isNaN(total) ? '' : ` of ${megabytes(total)}`} MB`);
  };
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

/** Only the members with these names. A link is refused: it could name a file outside. */
async function unpack(archive: string, directory: string, { environment }: FetchOptions): Promise<void> {
  const members = programs.map((name) => `${folder}/${name}`);
  const flags = ['--no-same-owner', '--strip-components=2', '-C', directory];
  await run('tar', ['-xzf', archive, ...flags, ...members], { env: { ...environment, LC_ALL: 'C' } }).catch(
    (error: unknown) => {
      throw new Error(`tar could not unpack it: ${outputOf(error)}`, { cause: error });
    },
  );
  for (const name of programs) {
    const path = join(directory, name);
    const found = await lstat(path);
    if (!found.isFile() || found.nlink !== 1) throw new Error(`its ${name} is not a regular file`);
    await chmod(path, 0o755);
  }
}

function outputOf(error: unknown): string {
  const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  return output === '' ? String(error) : output.replaceAll('\n', '; ');
}
