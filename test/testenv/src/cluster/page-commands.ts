import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ControlPlaneAccess } from '@metal/controlplane/running-control-plane.ts';
import { findHelm } from '@metal/project/helm.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** The examples of a section of a page, by language, without the indentation of its list. */
export async function examplesOf(page: string, section: string): Promise<Record<'sh' | 'yaml', string[]>> {
  const text = await readFile(join(root, 'docs/operate', page), 'utf8');
  const [, part = ''] = new RegExp(`^## ${section}\\n(.*?)(?=^## |(?![^]))`, 'ms').exec(text) ?? [];
  const examples = (language: string) =>
    [...part.matchAll(new RegExp(`^( *)\`\`\`${language}\\n(.*?)^ *\`\`\``, 'gms'))].map(
      ([, indent = '', example = '']) => example.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    );
  return { sh: examples('sh'), yaml: examples('yaml') };
}

/** A directory with the files of the repository that the page names, and a shell with kubectl and helm. */
export async function openShell(cluster: Pick<ControlPlaneAccess, 'binaries' | 'kubeconfigPath'>) {
  const directory = await mkdtemp(join(tmpdir(), 'metal-page-'));
  await chmod(directory, 0o755);
  await mkdir(join(directory, 'bin'));
  await symlink(join(root, 'deploy'), join(directory, 'deploy'));
  await symlink(cluster.binaries.kubectl, join(directory, 'bin/kubectl'));
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  await symlink(await findHelm({ environment: process.env, log }), join(directory, 'bin/helm'));
  const env = {
    KUBECONFIG: cluster.kubeconfigPath,
    HOME: directory,
    PATH: `${join(directory, 'bin')}:${process.env.PATH ?? ''}`,
  };
  return {
    directory,
    write: (name: string, text: string) => writeFile(join(directory, name), text),
    run: async (script = '') => (await run('sh', ['-eu', '-c', script], { cwd: directory, env })).stdout,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}
