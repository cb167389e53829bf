import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { exitCodeOf } from './exit-code.ts';
import type { Specification, Started } from './specification.ts';

/** Starts a container under bwrap (bubblewrap) in a user namespace, which needs no root. */
export async function startBwrap(specification: Specification): Promise<Started> {
  const child = spawn('bwrap', [...flagsOf(specification), ...specification.command], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const ended = exitCodeOf(child);
  // The fourth stream is a pipe that is only written by the child.
  const pid = await Promise.race([processIdIn(child.stdio[3] as Readable), ended.then(() => undefined)]);
  return {
    stdout: child.stdout as Readable,
    stderr: child.stderr as Readable,
    ended,
    // bwrap does not forward signals.
    signal: async (name) => {
      try {
        if (pid !== undefined) process.kill(pid, name);
      } catch {
        // It has just ended.
      }
    },
  };
}

function flagsOf({ rootDirectory, env, mounts, uid, gid, capabilities }: Specification): string[] {
  const binds = mounts.flatMap(({ source, target, readOnly }) => [
    readOnly === true ? '--ro-bind' : '--bind',
    source,
    target,
  ]);
  const variables = Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]);
  const namespaces = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--as-pid-1'];
  const account = ['--uid', `${uid}`, '--gid', `${gid}`, '--hostname', 'metal-operator'];
  const places = ['--ro-bind', rootDirectory, '/', '--proc', '/proc', '--dev', '/dev', ...binds];
  const rights = ['--cap-drop', 'ALL', ...capabilities.flatMap((name) => ['--cap-add', name])];
  return [
    ...namespaces,
    ...account,
    ...places,
    ...rights,
    '--die-with-parent',
    '--clearenv',
    ...variables,
    '--info-fd',
    '3',
  ];
}

/** The report of bwrap, a JSON object. */
async function processIdIn(report: Readable): Promise<number | undefined> {
  let text = '';
  for await (const chunk of report) text += String(chunk);
  const found = /"child-pid": (\d+)/.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}
