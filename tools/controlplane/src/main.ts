import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { findBinaries } from './binaries.ts';
import { startControlPlane } from './control-plane.ts';
import { ControlPlaneError } from './errors.ts';

const say = (line: string): void => void process.stderr.write(`${line}\n`);

const command = new Command('metal-controlplane')
  .description(
    'A small Kubernetes control plane of its own: etcd, kube-apiserver, kube-controller-manager and kubectl.\nBuilt once with Go 1.26 or newer, or taken from $KUBEBUILDER_ASSETS.',
  )
  .addHelpText(
    'after',
    '\nExit codes: 0 as asked, 1 could not start, 2 neither Go nor ready-made binaries.\nNothing is left running, however the command ends.',
  );

command
  .command('up', { isDefault: true })
  .description('start and stay up until Ctrl-C (the default)')
  .option(
    '--data <directory>',
    'keep the data here between starts; without it a temporary directory is used and removed',
  )
  .option('--no-controller-manager', 'leave out garbage collection, namespaces and service accounts')
  .action(up);

command
  .command('build')
  .description('only make sure that the binaries are there')
  .action(async () => {
    const { directory } = await findBinaries({ say });
    process.stdout.write(`${directory}\n`);
  });

command
  .command('path')
  .description('print the directory of the binaries, for PATH or KUBEBUILDER_ASSETS')
  .action(async () => {
    const { directory } = await findBinaries({ say });
    process.stdout.write(`${directory}\n`);
  });

command
  .command('kubectl [arguments...]')
  .description('run the kubectl of that version; put -- before its options')
  .action(kubectl);

async function up({ data, controllerManager }: { data?: string; controllerManager: boolean }): Promise<void> {
  await using plane = await startControlPlane({
    say,
    controllerManager,
    dataDirectory: data === undefined ? undefined : resolve(data),
  });
  process.stdout.write(
    `The API server is ready at ${plane.url}\n\n  export KUBECONFIG=${plane.kubeconfigPath}\n  ${plane.binaries.kubectl} get namespaces\n\nCtrl-C ends it.\n`,
  );
  await new Promise<void>((end) => {
    process.once('SIGINT', () => end());
    process.once('SIGTERM', () => end());
  });
}

async function kubectl(args: string[]): Promise<void> {
  const { kubectl: path } = await findBinaries({ say });
  const child = spawn(path, args, { stdio: 'inherit' });
  process.exitCode = await new Promise<number>((end) => child.once('exit', (code) => end(code ?? 1)));
}

command.parseAsync().then(
  () => process.exit(),
  (error: unknown) => {
    say(
      `metal-controlplane: ${error instanceof ControlPlaneError ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
    process.exit(
      error instanceof ControlPlaneError && (error.code === 'GoMissing' || error.code === 'AssetsIncomplete') ? 2 : 1,
    );
  },
);
