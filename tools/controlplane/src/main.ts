import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { findBinaries } from './binaries.ts';
import { startControlPlane } from './control-plane.ts';
import { ControlPlaneError } from './errors.ts';
import { versionOf } from '@metal/process/version.ts';

const exitCodes = { failed: 1, usage: 2, missing: 3 } as const;
const help = `
Examples:
  metal-controlplane                          a control plane for as long as the command runs
  metal-controlplane up --data .demo          one that keeps its objects, certificates and port
  metal-controlplane kubectl --data .demo get namespaces
  PATH="$(metal-controlplane path):$PATH"     kubectl and the others for this shell

The programs come from $KUBEBUILDER_ASSETS; else they are downloaded once into $XDG_CACHE_HOME or ~/.cache (about
55 MB from $ENVTEST_DOWNLOAD_URL, by default GitHub), or built there with Go 1.26 or newer (about four minutes on
two cores). kube-controller-manager is always built, when it is first needed. However the command ends, by SIGKILL too, nothing is left running.

Exit codes: 0 ended as asked, 1 could not start or a program ended by itself, 2 wrong usage,
3 programs are missing and cannot be downloaded or built; kubectl's own with kubectl.`;

const log = (line: string): void => void process.stderr.write(`${line}\n`);

const command = new Command('metal-controlplane')
  .version(`metal-controlplane ${versionOf(import.meta.url)}`, '--version', 'print the version')
  .description('A small Kubernetes control plane: etcd, kube-apiserver, kube-controller-manager and kubectl.')
  .enablePositionalOptions()
  .showHelpAfterError('(see --help)')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitCodes.usage))
  .addHelpText('after', help);

command
  .command('up', { isDefault: true })
  .description('start and run until Ctrl-C (default)')
  .option('--data <directory>', 'directory for data between starts; default: a temporary directory')
  .option(
    '--no-controller-manager',
    'do not run kube-controller-manager: no garbage collection, namespaces and service accounts',
  )
  .action(up);

command
  .command('build')
  .description('download or build the programs if necessary')
  .action(async () => log(`ready in ${(await findBinaries({ log })).directory}`));

command
  .command('path')
  .description('print the directory of the programs, for PATH or KUBEBUILDER_ASSETS; kubectl may be in PATH already')
  .action(async () => void process.stdout.write(`${(await findBinaries({ log })).directory}\n`));

command
  .command('kubectl [arguments...]')
  .description('run kubectl of the same version, with --data or $KUBECONFIG')
  .option('--data <directory>', 'data directory of the running control plane')
  .passThroughOptions()
  .action(kubectl);

async function up({ data, controllerManager }: { data?: string; controllerManager: boolean }): Promise<void> {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort(new Stopped()));
  const stopped = once(stop.signal, 'abort');
  await using plane = await startControlPlane({ log, controllerManager, dataDirectory: data, signal: stop.signal });
  await plane.rolesReady();
  process.stdout.write(
    `The API server is ready at ${plane.url}\n\n  export KUBECONFIG=${plane.kubeconfigPath}\n  ${plane.binaries.kubectl} get namespaces\n\nPress Ctrl-C to stop it.\n`,
  );
  const failure = await Promise.race([stopped, plane.ended]);
  if (failure instanceof ControlPlaneError) throw failure;
}

async function kubectl(args: string[], { data }: { data?: string }): Promise<void> {
  const { kubectl: program } = await findBinaries({ log });
  const environment = data === undefined ? process.env : { ...process.env, KUBECONFIG: kubeconfigIn(data) };
  const child = spawn(program, args, { stdio: 'inherit', env: environment });
  // The terminal sends Ctrl-C to kubectl too; its exit code is returned.
  process.on('SIGINT', () => undefined);
  const [code] = await once(child, 'exit');
  process.exitCode = typeof code === 'number' ? code : exitCodes.failed;
}

function kubeconfigIn(data: string): string {
  const path = join(resolve(data), 'kubeconfig');
  if (existsSync(path)) return path;
  throw new ControlPlaneError(
    'StartFailed',
    `${resolve(data)} has no data of a control plane; start one with: metal-controlplane up --data ${data}`,
  );
}

/** A stop request during the start. */
class Stopped extends Error {}

function exitCodeOf(error: unknown): number {
  if (error instanceof Stopped) return 0;
  const missing = error instanceof ControlPlaneError && ['GoMissing', 'AssetsIncomplete'].includes(error.code);
  return missing ? exitCodes.missing : exitCodes.failed;
}

function explain(error: unknown): string {
  if (error instanceof ControlPlaneError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

command.parseAsync().then(
  () => process.exit(),
  (error: unknown) => {
    if (!(error instanceof Stopped)) log(`metal-controlplane: ${explain(error)}`);
    process.exit(exitCodeOf(error));
  },
);
