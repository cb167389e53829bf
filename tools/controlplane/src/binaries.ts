import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ControlPlaneError } from './errors.ts';
import { withFileLock } from './file-lock.ts';

const run = promisify(execFile);
const moduleDirectory = dirname(dirname(fileURLToPath(import.meta.url)));

export interface Binaries {
  readonly directory: string;
  readonly etcd: string;
  readonly apiServer: string;
  /** Absent in some KUBEBUILDER_ASSETS. */
  readonly controllerManager: string | undefined;
  readonly kubectl: string;
}

export interface BinariesOptions {
  /** Directory with ready-made binaries; defaults to $KUBEBUILDER_ASSETS. */
  readonly assets?: string | undefined;
  readonly environment?: NodeJS.ProcessEnv;
  /** One line of progress for people. */
  readonly say?: (line: string) => void;
}

/**
 * Finds the control plane's binaries, or builds them once per version into the user's cache.
 * @throws ControlPlaneError GoMissing, BuildFailed or AssetsIncomplete.
 */
export async function findBinaries({
  assets,
  environment = process.env,
  say = () => undefined,
}: BinariesOptions = {}): Promise<Binaries> {
  const ready = assets ?? environment.KUBEBUILDER_ASSETS;
  if (ready !== undefined && ready !== '') return fromAssets(ready);
  const directory = await cacheDirectory(environment);
  if (!isComplete(directory)) {
    await mkdir(dirname(directory), { recursive: true });
    await withFileLock(`${directory}.lock`, async () => {
      if (!isComplete(directory)) await build(directory, environment, say);
    });
  }
  return binariesIn(directory);
}

function fromAssets(directory: string): Binaries {
  const missing = ['etcd', 'kube-apiserver', 'kubectl'].filter((name) => !existsSync(join(directory, name)));
  if (missing.length > 0) {
    throw new ControlPlaneError(
      'AssetsIncomplete',
      `KUBEBUILDER_ASSETS=${directory} lacks ${missing.join(', ')}; give a directory with etcd, kube-apiserver and kubectl, or unset it to build them with Go`,
    );
  }
  return binariesIn(directory);
}

function binariesIn(directory: string): Binaries {
  const controllerManager = join(directory, 'kube-controller-manager');
  return {
    directory,
    etcd: join(directory, 'etcd'),
    apiServer: join(directory, 'kube-apiserver'),
    controllerManager: existsSync(controllerManager) ? controllerManager : undefined,
    kubectl: join(directory, 'kubectl'),
  };
}

const isComplete = (directory: string): boolean =>
  ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'].every((name) => existsSync(join(directory, name)));

/** Named by what it holds: the versions, and a digest of everything that decides the build. */
async function cacheDirectory(environment: NodeJS.ProcessEnv): Promise<string> {
  const { kubernetes, etcd, digest } = await versions();
  const root = environment.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  return join(root, 'metal-operator', 'control-plane', `kubernetes-${kubernetes}-etcd-${etcd}-${digest}`);
}

async function versions(): Promise<{ kubernetes: string; etcd: string; digest: string }> {
  const module = await readFile(join(moduleDirectory, 'go.mod'), 'utf8');
  const versionOf = (path: string) =>
    new RegExp(`^\\s*${path.replaceAll('.', '\\.')} (v\\S+)`, 'm').exec(module)?.[1] ?? 'unknown';
  const kubernetes = versionOf('k8s.io/kubernetes');
  const digest = createHash('sha256').update(module).update(linkerFlags(kubernetes)).digest('hex').slice(0, 12);
  return { kubernetes, etcd: versionOf('go.etcd.io/etcd/server/v3'), digest };
}

/** Without these, `kubectl version` and the API server say v0.0.0-master. */
function linkerFlags(version: string): string {
  const [major, minor] = version.slice(1).split('.');
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'archive' };
  const stamps = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((path) =>
    Object.entries(values).map(([name, value]) => `-X ${path}.${name}=${value}`),
  );
  return ['-s', '-w', ...stamps].join(' ');
}

async function build(directory: string, environment: NodeJS.ProcessEnv, say: (line: string) => void): Promise<void> {
  await requireGo(environment);
  const { kubernetes, etcd } = await versions();
  say(
    `building kube-apiserver ${kubernetes}, etcd ${etcd}, kube-controller-manager and kubectl; about five minutes on two cores, once`,
  );
  const partial = `${directory}.partial-${process.pid}`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  try {
    await goBuild(partial, linkerFlags(kubernetes), environment, say);
    await rename(join(partial, 'server'), join(partial, 'etcd'));
    await rm(directory, { recursive: true, force: true });
    await rename(partial, directory);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function requireGo(environment: NodeJS.ProcessEnv): Promise<void> {
  const waysOut =
    'install Go 1.26 or newer (https://go.dev/dl), or point KUBEBUILDER_ASSETS at a directory with etcd, kube-apiserver, kube-controller-manager and kubectl';
  const { stdout } = await run('go', ['env', 'GOVERSION'], { env: { ...environment, GOTOOLCHAIN: 'local' } }).catch(
    (error: unknown) => {
      throw new ControlPlaneError(
        'GoMissing',
        `the control plane is built with Go, and there is no go command: ${waysOut}`,
        error,
      );
    },
  );
  const [major = 0, minor = 0] = stdout.trim().replace(/^go/, '').split('.').map(Number);
  if (major > 1 || (major === 1 && minor >= 26)) return;
  throw new ControlPlaneError(
    'GoMissing',
    `the control plane is built with Go 1.26 or newer, found ${stdout.trim()}: ${waysOut}`,
  );
}

async function goBuild(
  output: string,
  ldflags: string,
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<void> {
  const startedAt = Date.now();
  const progress = setInterval(() => say(`still building (${Math.round((Date.now() - startedAt) / 1_000)} s)`), 30_000);
  const child = spawn('go', ['build', '-trimpath', '-ldflags', ldflags, '-o', `${output}/`, 'tool'], {
    cwd: moduleDirectory,
    env: { ...environment, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4_000);
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) =>
      child.once('error', reject).once('exit', resolve),
    );
    if (code !== 0)
      throw new ControlPlaneError('BuildFailed', `go build failed (exit ${code ?? 'by signal'}):\n${errors}`);
  } finally {
    clearInterval(progress);
  }
  await access(join(output, 'kube-apiserver'));
}
