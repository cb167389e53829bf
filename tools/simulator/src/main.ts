import { writeFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { startControl } from './control.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { isVendor, type Vendor, vendors } from './profiles.ts';

interface Flags {
  count: number;
  vendors: Vendor[];
  https: boolean;
  latency: number;
  powerOn: number;
  powerOff: number;
  boot: number;
  bootUrl?: string;
  seed: string;
  port: number;
  network: string;
  username: string;
  password: string;
  macPrefixes?: string;
  endpoints?: string;
  ca?: string;
  controlPort: number;
  output: 'table' | 'json';
}

const whole = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('expected a whole number of 0 or more');
  return Number(text);
};

function vendorList(text: string): Vendor[] {
  return text.split(',').map((name) => {
    if (!isVendor(name)) throw new InvalidArgumentError(`expected some of ${vendors.join(', ')}`);
    return name;
  });
}

const command = new Command('metal-fleet')
  .description(
    'A fleet of simulated servers: Redfish BMCs on loopback addresses, and machines that boot what they are told.\nStays up until Ctrl-C.',
  )
  .option('--count <n>', 'number of servers', whole, 8)
  .option('--vendors <list>', `vendors in turn: ${vendors.join(',')}`, vendorList, vendors)
  .option('--https', 'speak HTTPS with certificates of an own CA', false)
  .option('--latency <ms>', 'time before each answer', whole, 20)
  .option('--power-on <ms>', 'time from Reset On to power', whole, 500)
  .option('--power-off <ms>', 'time a shutdown takes', whole, 500)
  .option('--boot <ms>', 'time from power to the first network request', whole, 2_000)
  .option('--boot-url <url>', 'boot service that network boots go to')
  .option('--seed <text>', 'the same seed makes the same machines', 'fleet')
  .option('--port <port>', 'port of every BMC', whole, 8_000)
  .option('--network <octets>', 'first two octets of the addresses', '127.20')
  .option('--username <name>', 'user of every BMC', 'admin')
  .option('--password <text>', 'password of every BMC', 'fleet-password')
  .option('--mac-prefixes <file>', 'write a MAC prefix database for the operator')
  .option('--endpoints <file>', 'write Endpoint manifests for kubectl apply')
  .option('--ca <file>', 'write the CA certificate (with --https)')
  .option('--control-port <port>', 'port of the fault control API on 127.0.0.1; 0 for none', whole, 8_099)
  .option('-o, --output <format>', 'table or json', 'table')
  .addHelpText(
    'after',
    '\nFaults at run time:\n  curl -X POST localhost:8099/nodes/dell-0001/faults -d \'{"hang": true}\'\n  curl -X POST localhost:8099/nodes/dell-0001/heal',
  );

async function main(flags: Flags): Promise<void> {
  await using fleet = await startFleet({
    count: flags.count,
    vendors: flags.vendors,
    https: flags.https,
    latencyMs: flags.latency,
    powerOnMs: flags.powerOn,
    powerOffMs: flags.powerOff,
    bootMs: flags.boot,
    bootUrl: flags.bootUrl,
    seed: flags.seed,
    port: flags.port,
    network: flags.network,
    credentials: { username: flags.username, password: flags.password },
  });
  await writeFiles(fleet, flags);
  await using _control = flags.controlPort === 0 ? undefined : await startControl(fleet, flags.controlPort);
  show(fleet, flags);
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
}

async function writeFiles(fleet: Fleet, { macPrefixes, endpoints, ca }: Flags): Promise<void> {
  if (macPrefixes !== undefined) await writeFile(macPrefixes, fleet.macPrefixFile());
  if (ca !== undefined && fleet.caPem !== undefined) await writeFile(ca, fleet.caPem);
  if (endpoints === undefined) return;
  const documents = fleet
    .endpoints()
    .map(({ name, ...spec }) =>
      JSON.stringify({ apiVersion: 'metal.ironcore.dev/v1alpha1', kind: 'Endpoint', metadata: { name }, spec }),
    );
  await writeFile(endpoints, `${documents.join('\n---\n')}\n`);
}

function show(fleet: Fleet, { output, https }: Flags): void {
  const rows = fleet.nodes.map(({ name, vendor, uuid, bmc }) => ({
    name,
    vendor,
    url: `${https ? 'https' : 'http'}://${bmc.address}:${bmc.port}`,
    macAddress: bmc.macAddress,
    systemUUID: uuid,
  }));
  if (output === 'json') return void process.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`);
  const widest = Math.max(4, ...rows.map(({ name }) => name.length));
  const lines = rows
    .slice(0, 20)
    .map(
      ({ name, url, macAddress, systemUUID }) =>
        `${name.padEnd(widest)}  ${url.padEnd(28)}  ${macAddress}  ${systemUUID}`,
    );
  const more = rows.length > 20 ? [`… and ${rows.length - 20} more (-o json lists all)`] : [];
  process.stdout.write(
    `${[`${'NAME'.padEnd(widest)}  ${'BMC'.padEnd(28)}  ${'MAC ADDRESS'.padEnd(17)}  SYSTEM UUID`, ...lines, ...more, '', `${rows.length} servers are up; Ctrl-C ends them.`].join('\n')}\n`,
  );
}

command.action(async () => main(command.opts<Flags>()));
command.parseAsync().catch((error: unknown) => {
  process.stderr.write(`metal-fleet: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
