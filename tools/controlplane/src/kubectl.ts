import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const answerWithinMs = 5_000;

/** The kubectl in PATH if it supports this API server: Kubernetes promises one minor version of difference. */
export async function kubectlInPath(
  environment: NodeJS.ProcessEnv,
  serverVersion: string,
): Promise<string | undefined> {
  const path = await firstInPath('kubectl', environment);
  if (path === undefined) return undefined;
  const version = await clientVersion(path, environment);
  return version !== undefined && isWithinOneMinor(version, serverVersion) ? path : undefined;
}

async function firstInPath(name: string, environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const directory of (environment.PATH ?? '').split(delimiter).filter((entry) => isAbsolute(entry))) {
    const path = join(directory, name);
    if (await isProgram(path)) return path;
  }
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function clientVersion(path: string, environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  // A broken program, or a wrapper that wants a terminal, is no kubectl for us.
  const output = await outputOf(path, ['version', '--client', '-o', 'json'], environment);
  return /"gitVersion":\s*"(v[^"]+)"/.exec(output ?? '')?.[1];
}

/** Undefined if the program fails or does not end in time. A wrapper may ignore SIGTERM. */
export async function outputOf(
  path: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  timeout = answerWithinMs,
): Promise<string | undefined> {
  try {
    return (await run(path, args, { env: environment, timeout, killSignal: 'SIGKILL' })).stdout;
  } catch {
    return undefined;
  }
}

function isWithinOneMinor(one: string, other: string): boolean {
  const [major, minor] = numbersOf(one);
  const [otherMajor, otherMinor] = numbersOf(other);
  return major === otherMajor && Math.abs(minor - otherMinor) <= 1;
}

function numbersOf(version: string): [number, number] {
  const [major = Number.NaN, minor = Number.NaN] = version.replace(/^v/, '').split('.').map(Number);
  return [major, minor];
}
