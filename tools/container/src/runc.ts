import { execFile, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { exitCodeOf } from './exit-code.ts';
import type { Mount, Specification, Started } from './specification.ts';

/** Starts a container under runc, which needs root. */
export async function startRunc(specification: Specification): Promise<Started> {
  const { directory } = specification;
  const [bundle, state, name] = [join(directory, 'bundle'), join(directory, 'state'), basename(directory)];
  await mkdir(bundle);
  await writeFile(join(bundle, 'config.json'), JSON.stringify(runtimeConfiguration(specification)));
  const child = spawn('runc', ['--root', state, 'run', '--bundle', bundle, name], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { stdout, stderr } = child;
  return {
    stdout,
    stderr,
    ended: exitCodeOf(child),
    // Fails only for a container that has ended.
    signal: async (signal) =>
      void (await promisify(execFile)('runc', ['--root', state, 'kill', name, signal]).catch(() => undefined)),
  };
}

const ownMounts = [
  { destination: '/proc', type: 'proc', source: 'proc' },
  { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=65536k'] },
];

/** The configuration of the OCI runtime specification. */
function runtimeConfiguration(specification: Specification): object {
  const { rootDirectory, command, env, mounts, uid, gid, capabilities, networkNamespace } = specification;
  const network = networkNamespace === undefined ? [] : [{ type: 'network', path: networkNamespace }];
  const given = {
    bounding: capabilities,
    effective: capabilities,
    permitted: capabilities,
    inheritable: [],
    ambient: [],
  };
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid, gid },
      args: command,
      env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      cwd: '/',
      capabilities: given,
      noNewPrivileges: true,
    },
    root: { path: rootDirectory, readonly: true },
    hostname: 'metal-operator',
    mounts: [...ownMounts, ...mounts.map(bindMount)],
    linux: { namespaces: [...['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })), ...network] },
  };
}

const bindMount = ({ source, target, readOnly = false }: Mount): object => ({
  destination: target,
  type: 'bind',
  source,
  options: ['rbind', readOnly ? 'ro' : 'rw'],
});
