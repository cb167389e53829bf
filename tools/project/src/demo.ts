import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ControlPlaneError } from '@metal/controlplane/errors.ts';
import { OperatorError } from '@metal/kube/errors.ts';
import { removeLeftovers } from './demo/cluster.ts';
import { machineKinds, type MachineKind } from './demo/rack.ts';
import { DemoFailed } from './demo/demo-failed.ts';
import { Tour, type TourName, tours } from './demo/tour.ts';

const count = (text: string): number => {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 500)
    throw new InvalidArgumentError('expected a number from 1 to 500');
  return number;
};

const command = new Command('make demo')
  .description(
    'Demo on a Kubernetes API: a rack of servers is discovered; one is claimed, booted and released.\nUsage: make demo ARGS="--once --servers 20"',
  )
  .option('--servers <count>', 'number of servers (default: 8; in QEMU: 2)', count)
  .addOption(
    new Option('--machines <kind>', 'simulated machines, or real ones in QEMU (requires: make e2e-deps)')
      .choices(machineKinds)
      .default('simulated'),
  )
  .addOption(
    new Option(
      '--tour <name>',
      'life: discovery, claim and release; day2: also a BIOS rollout and a decommission; metal3: BareMetalHosts, one with an image on its disk',
    )
      .choices(tours)
      .default('life'),
  )
  .option(
    '--kubeconfig <file>',
    'run in the existing cluster of its current context, after a confirmation; removes at its end what it has made',
  )
  .option('--remove', 'with --kubeconfig: remove what a killed demo has left in the cluster, and exit', false)
  .option('--yes', 'do not wait for the confirmation', false)
  .option('--once', 'exit after the tour', false)
  .option('--timeout <seconds>', 'time limit of one step (default: 120; in QEMU: 400)', count);

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const usual = { simulated: { servers: 8, timeout: 120 }, qemu: { servers: 2, timeout: 400 } };

interface DemoFlags {
  tour: TourName;
  machines: MachineKind;
  once: boolean;
  yes: boolean;
  remove: boolean;
  kubeconfig?: string;
  servers?: number;
  timeout?: number;
}

command.action(async () => {
  const { machines, once, yes, remove, kubeconfig, tour: name, ...overrides } = command.opts<DemoFlags>();
  if (name === 'metal3' && machines !== 'simulated')
    throw new DemoFailed('--tour metal3 has an image that boots nothing: use --machines simulated');
  const { servers, timeout } = { ...usual[machines], ...overrides };
  const stop = new AbortController();
  // A second signal ends the process at once, unless there are objects in an existing cluster.
  for (const signal of signals) process.once(signal, () => stop.abort(new DemoFailed('stopped', 0)));
  const beforeFirstChange = () => {
    for (const signal of signals) process.on(signal, () => stop.abort(new DemoFailed('stopped', 0)));
  };
  // Such as EPIPE.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', ({ message }) => stop.abort(new DemoFailed(`the output was closed: ${message}`)));
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'metal-demo-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const reason = (error: DemoFailed) => stop.abort(error);
  const existing =
    kubeconfig === undefined ? undefined : { kubeconfig, yes, directory, beforeFirstChange, stop: reason };
  if (remove && existing === undefined) throw new DemoFailed('expected --kubeconfig with --remove, found none');
  if (remove && existing !== undefined) return removeLeftovers(existing, stop.signal);
  await using tour = await Tour.start({
    name,
    servers,
    machines,
    stepTimeoutMs: timeout * 1_000,
    directory,
    existing,
    signal: stop.signal,
  });
  await tour.walk();
  if (!once) await tour.stay();
});

command.parseAsync().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`\ndemo: ${describe(error)}\n`);
    process.exit(error instanceof DemoFailed ? error.exitCode : 1);
  },
);

function describe(error: unknown): string {
  // Of the removal, after another failure.
  if (error instanceof SuppressedError) return `${describe(error.suppressed)}\n${describe(error.error)}`;
  const hasRemedy = error instanceof DemoFailed || error instanceof ControlPlaneError || error instanceof OperatorError;
  if (hasRemedy) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
