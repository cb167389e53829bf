import { randomBytes } from 'node:crypto';
import { Command, InvalidArgumentError, Option } from 'commander';
import { startImageRegistry } from '@metal/testenv/network/image-registry.ts';
import { type BootProcess, bootOverNetwork, startBootProcess } from '@metal/testenv/network/network-boot.ts';
import {
  type BootingServer,
  directoryWith,
  namespace,
  openServiceFixture,
  type ServiceFixture,
} from '@metal/testenv/cluster/service-fixture.ts';
import { CountingRelay } from './counting-relay.ts';
import { type Figure, percentile, printFigures } from './figures.ts';

const mebibyte = 1_048_576;
/** Share of the kernel in an image. */
const kernelShare = 0.25;

const positive = (text: string): number => {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0 && number <= 10_000) return number;
  throw new InvalidArgumentError('expected a number from 1 to 10000');
};

const command = new Command('make bench-boot')
  .description('Measures the cost of the boot service when many machines boot one image of a registry at once.')
  .option('--machines <count>', 'number of machines that boot at once', positive, 200)
  .option('--image <MiB>', 'total size of kernel and initrd', positive, 60)
  .addOption(new Option('-o, --output <format>', 'table or JSON').choices(['table', 'json']).default('table'));

interface BootImagesOptions {
  machines: number;
  image: number;
  output: 'table' | 'json';
}

command.action(async () => {
  const { output, ...options } = command.opts<BootImagesOptions>();
  process.stdout.write(printFigures(await measure(options), output));
});

/**
 *   registry ◄── counting relay ◄── boot service, in a separate process ◄── machines, all at once
 */
async function measure({ machines: count, image: sizeMiB }: Omit<BootImagesOptions, 'output'>): Promise<Figure[]> {
  await using fixture = await openServiceFixture();
  await using registry = await startImageRegistry();
  await using relay = await CountingRelay.open(registry.host);
  await using cache = await directoryWith({});
  const bytes = randomBytes(sizeMiB * mebibyte);
  const kernelBytes = Math.round(bytes.length * kernelShare);
  await registry.push('bench/os', '1', [
    ['application/vnd.ironcore.image.kernel', bytes.subarray(0, kernelBytes)],
    ['application/vnd.ironcore.image.initramfs', bytes.subarray(kernelBytes)],
  ]);
  const names = Array.from({ length: count }, (_, index) => `machine-${index}`);
  const servers = await Promise.all(names.map((name) => fixture.booting(name, { image: `${relay.host}/bench/os:1` })));
  await using boot = await startBootProcess(fixture.kubeconfigPath, [
    `--allowed-registries=${relay.host}`,
    `--insecure-registries=${relay.host}`,
    `--boot-cache-dir=${cache.path}`,
  ]);

  const preparation = await timed(() => Promise.all(names.map((name) => isReady(fixture, name))));
  const [preparedBytes, preparedCpu] = [await boot.peakBytes(), await boot.cpuSeconds()];
  const durations: number[] = [];
  const booting = await timed(() =>
    Promise.all(
      servers.map(async (server, index) =>
        durations.push(await timed(() => loadsAll(boot, server, { index, size: bytes.length }))),
      ),
    ),
  );
  const cpu = (await boot.cpuSeconds()) - preparedCpu;
  return [
    { name: 'machines', value: count, unit: 'machines' },
    { name: 'image', value: sizeMiB, unit: 'MiB' },
    { name: 'pulled from the registry', value: relay.bytes / mebibyte, unit: 'MiB' },
    { name: 'pulled from the registry', value: relay.bytes / bytes.length, unit: 'images' },
    { name: 'until all are prepared', value: preparation, unit: 's' },
    { name: 'until all have loaded', value: booting, unit: 's' },
    { name: 'sent to machines', value: (count * sizeMiB) / booting, unit: 'MiB/s' },
    { name: 'processor time of the boot service', value: cpu, unit: 's' },
    { name: 'one machine, median', value: percentile(durations, 50), unit: 's' },
    { name: 'one machine, 99 %', value: percentile(durations, 99), unit: 's' },
    { name: 'peak memory, prepared', value: preparedBytes / mebibyte, unit: 'MiB' },
    { name: 'peak memory', value: (await boot.peakBytes()) / mebibyte, unit: 'MiB' },
  ];
}

const isReady = (fixture: ServiceFixture, name: string): Promise<unknown> =>
  fixture.until(fixture.bootConfigurations, `${namespace}/${name}`, ({ status }) => status?.state === 'Ready');

async function loadsAll(
  boot: BootProcess,
  { uuid }: BootingServer,
  { index, size }: { index: number; size: number },
): Promise<void> {
  const address = `127.2.${Math.floor(index / 250)}.${1 + (index % 250)}`;
  const loaded = await bootOverNetwork(boot.url, { uuid, address });
  const sum = Object.values(loaded).reduce((total, each) => total + each, 0);
  if (sum !== size) throw new Error(`expected ${size} bytes for ${uuid}; got ${sum}`);
}

/** Duration of the work, in seconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1_000;
}

command.parseAsync().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`bench-boot: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
