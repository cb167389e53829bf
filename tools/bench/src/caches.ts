import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createKubeClient } from '@metal/kube/client/client.ts';
import { openCluster } from '@metal/testenv/cluster/cluster.ts';
import { Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { CountingRelay } from './counting-relay.ts';
import { type Figure, printFigures } from './figures.ts';
import type { ControlPlaneAccess } from '@metal/controlplane/running-control-plane.ts';
import { bringUpSpecimens, FleetOfObjects } from './fleet-of-objects.ts';

const mebibyte = 1_048_576;
const reader = fileURLToPath(new URL('caches-process.ts', import.meta.url));

function sizes(text: string): number[] {
  const numbers = text.split(',').map(Number);
  if (numbers.every((number) => Number.isInteger(number) && number > 0 && number <= 100_000))
    return numbers.toSorted((one, other) => one - other);
  throw new InvalidArgumentError('expected numbers from 1 to 100000, separated by commas');
}

const command = new Command('make bench-caches')
  .description(
    'Measures the cost of the caches of the operator for fleets of growing size.\n' +
      'Every second server is claimed. Writing 10 000 servers takes some four minutes.',
  )
  .option('--servers <counts>', 'fleet sizes, measured in sequence', sizes, [100, 1_000])
  .addOption(new Option('-o, --output <format>', 'table or JSON').choices(['table', 'json']).default('table'));

interface CachesOptions {
  servers: number[];
  output: 'table' | 'json';
}

command.action(async () => {
  const { servers, output } = command.opts<CachesOptions>();
  process.stdout.write(printFigures(await measure(servers), output));
});

/**
 *   API server ◄── counting relay ◄── caches, in a separate process
 */
async function measure(counts: readonly number[]): Promise<Figure[]> {
  const specimens = await bringUpSpecimens();
  await using cluster = await openCluster();
  await using client = createKubeClient({ kubeconfigPath: cluster.kubeconfigPath });
  const fleet = new FleetOfObjects(client, specimens);
  const figures: Figure[] = [];
  for (const [at, count] of counts.entries()) {
    await fleet.write({ from: counts[at - 1] ?? 0, to: count }, logProgress);
    const { received, ...read } = await readFleet(cluster);
    figures.push(
      { name: `${count}: objects`, value: read.objects, unit: 'objects' },
      { name: `${count}: JSON of one server's objects`, value: fleet.bytes / count / 1_000, unit: 'kB' },
      { name: `${count}: received until all caches were complete`, value: received / mebibyte, unit: 'MiB' },
      { name: `${count}: until all caches were complete`, value: read.seconds, unit: 's' },
      { name: `${count}: processor time until then`, value: read.cpuSeconds, unit: 's' },
      { name: `${count}: heap of the caches`, value: read.heapMiB, unit: 'MiB' },
      { name: `${count}: heap per server`, value: (read.heapMiB * mebibyte) / count / 1_000, unit: 'kB' },
      { name: `${count}: peak memory of the process`, value: read.peakMiB, unit: 'MiB' },
    );
  }
  return figures;
}

const readFigures = z.object({
  objects: z.number(),
  seconds: z.number(),
  cpuSeconds: z.number(),
  peakMiB: z.number(),
  heapMiB: z.number(),
});

async function readFleet({ url, kubeconfigPath }: ControlPlaneAccess) {
  await using stack = new AsyncDisposableStack();
  const relay = stack.use(await CountingRelay.open(new URL(url).host));
  const directory = await mkdtemp(join(tmpdir(), 'metal-bench-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const throughRelay = join(directory, 'kubeconfig');
  const kubeconfig = await readFile(kubeconfigPath, 'utf8');
  await writeFile(throughRelay, kubeconfig.replaceAll(url, `https://${relay.host}`), { mode: 0o600 });
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', reader, throughRelay]);
  return { ...readFigures.parse(JSON.parse(stdout)), received: relay.bytes };
}

function logProgress(written: number): void {
  if (written % 500 === 0) process.stderr.write(`${written} servers are written\n`);
}

command.parseAsync().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`bench-caches: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
