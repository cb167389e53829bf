import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ImageError } from './errors.ts';

const packageOf: Readonly<Record<string, string>> = {
  'dpkg-deb': 'dpkg',
  'apt-get': 'apt',
  'apt-cache': 'apt',
  zstd: 'zstd',
  objcopy: 'binutils',
  objdump: 'binutils',
  as: 'binutils',
  ld: 'binutils',
  readelf: 'binutils',
  tar: 'tar',
  npm: 'npm',
  git: 'git',
  strip: 'binutils',
};

/** Runs a program of the build machine and resolves with its output. */
export async function tool(name: string, parameters: readonly string[], directory = '/'): Promise<string> {
  try {
    const environment = { ...process.env, LC_ALL: 'C', SOURCE_DATE_EPOCH: '0' };
    const options = { cwd: directory, env: environment, maxBuffer: 64 * 1_048_576 };
    return (await promisify(execFile)(name, [...parameters], options)).stdout;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new ImageError(
        'ToolMissing',
        `${name} is not installed; run: apt-get install ${packageOf[name] ?? name}`,
        error,
      );
    throw error;
  }
}
