import { join } from 'node:path';
import { BootError } from '../errors.ts';
import type { ExpectedContent } from './artefact-verification.ts';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';

/** The files of an earlier process, least recently used first. Removes partial files, and nothing else. */
export async function storedFiles(directory: string): Promise<{ name: string; size: number }[]> {
  await mkdir(directory, { recursive: true });
  const names = await readdir(directory);
  const partials = names.filter((name) => /^\.partial-[0-9a-f]{32,128}-\d+$/.test(name));
  await Promise.all(partials.map((name) => rm(join(directory, name), { force: true })));
  const files = await Promise.all(
    names
      .filter((name) => /^(?:sha256-[0-9a-f]{64}|sha512-[0-9a-f]{128}|md5-[0-9a-f]{32})$/.test(name))
      .map(async (name) => {
        const { size, mtimeMs } = await stat(join(directory, name));
        return { name, size, mtimeMs };
      }),
  );
  return files.toSorted((one, other) => one.mtimeMs - other.mtimeMs);
}

export function asBootError(error: unknown, { name }: Pick<ExpectedContent, 'name'>): BootError {
  if (error instanceof BootError) return error;
  const isOurs = error instanceof Error && 'syscall' in error && 'path' in error;
  const isFull = error instanceof Error && 'code' in error && error.code === 'ENOSPC';
  if (isOurs || isFull) return unusable(error);
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return new BootError(
    'RegistryUnreachable',
    `${name}: the pull broke off: ${inner instanceof Error ? inner.message : String(inner)}`,
    error,
  );
}

export const unusable = (cause: unknown): BootError =>
  new BootError(
    'CacheUnusable',
    `--boot-cache-dir cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
    cause,
  );
