import { writeFile } from 'node:fs/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { controlRoutes, startControl } from './control.ts';
import { FleetError } from './errors.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { isVendor, defaultVendors, fieldProfiles, profileNames, type Vendor, vendors } from './profiles.ts';
import { showStatus } from './status-line.ts';
import { versionOf } from '@metal/process/version.ts';

interface Flags {
  count: number;
  qemu: number;
  vendors: readonly Vendor[];
  https: boolean;
  latency: number;
  powerOn: number;
  powerOff: number;
  boot: number;
  erase: number;
  bmcRestart: number;
  flash: number;
  bootUrl?: string;
  probeRegistry?: string;
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

const portNumber = (text: string): number => {
  if (whole(text) > 65_535) throw new InvalidArgumentError('expected a port up to 65535');
  return Number(text);
};

const loopback = (text: string): string => {
  if (!/^127\.\d{1,3}$/.test(text))
    throw new InvalidArgumentError('expected two octets of the loopback network, like 127.20');
  return text;
};

function vendorList(text: string): Vendor[] {
  return text.split(',').map((name) => {
    if (!isVendor(name)) throw new InvalidArgumentError(`expected some of ${profileNames.join(', ')}`);
    return name;
  });
}

const help = `
Each BMC has its own loopback address; all BMCs use one port. A network boot fetches <boot-url>/ipxe/<system UUID> and runs
the script, including the probe and its report. With --probe-registry no boot service is needed: for an operator without one,
that accepts probe reports without a token.

Vendors: ${vendors.join(', ')}
Shapes of the field, also for --vendors: ${fieldProfiles.join(', ')}

Examples:
  metal-fleet --count 50 --mac-prefixes prefixes.yaml --endpoints endpoints.yaml
  kubectl apply -f endpoints.yaml             for an operator with --mac-prefixes-file=prefixes.yaml
  metal-fleet --count 1000 --latency 200      a slow data centre
  metal-fleet --https --ca ca.pem             BMCs with certificates of the fleet's own CA
  metal-fleet --count 0 --qemu 2              real machines, which run the booted system
  metal-fleet --count 3 -o json | jq -r '.[].url'

Control API, http://127.0.0.1:<control-port>:
  ${controlRoutes.join('\n  ')}

  curl 127.0.0.1:8099/nodes/dell-0001/faults -d '{"status": 503, "times": 3}'
  Faults: latencyMs, hang, refuse, status, cutsConnections, failsWriteResponses, dripMs, truncates, answersGarbage, uuid (null: none), anonymous,
  untrusted, ignoresOverride, ignoresShutdown, manglesPasswords, powerNeverChanges, eventsDisabled, health, managerHealth (null: none); of firmware
  updates: rejectsUpdates, downloadFails, checksumFails, updateStuck, updateTaskVanishes, versionUnchanged, silentAfterUpdateMs,
  powerLostWhileFlashing; once: dropSessions, dropConnections, restart, factoryReset.
  Limits: forMs, times, path (only requests whose path contains it). Without a limit they last until heal.`;

const command = new Command('metal-fleet')
  .version(`metal-fleet ${versionOf(import.meta.url)}`, '--version', 'print the version')
  .description('A fleet of simulated servers: Redfish BMCs over real HTTP, and their machines. Stops with Ctrl-C.')
  .option('--count <n>', 'number of servers', whole, 8)
  .option('--qemu <n>', 'number of additional real machines in QEMU, with generic BMCs', whole, 0)
  .addOption(
    new Option('--vendors <list>', 'vendors in rotation, separated by commas')
      .argParser(vendorList)
      .default(defaultVendors, defaultVendors.join(',')),
  )
  .option('--seed <text>', 'the same seed gives the same machines', 'fleet')
  .option('--https', 'use HTTPS', false)
  .option('--port <port>', 'port of every BMC; 0 takes a free one', portNumber, 8_000)
  .option('--network <octets>', 'first two octets of the addresses', loopback, '127.20')
  .option('--username <name>', 'user of every simulated BMC', 'admin')
  .option('--password <text>', 'password of every simulated BMC', 'fleet-password')
  .option('--latency <ms>', 'delay before each response', whole, 20)
  .option('--power-on <ms>', 'time from the command until power is on', whole, 500)
  .option('--power-off <ms>', 'time from the command until power is off', whole, 500)
  .option('--boot <ms>', 'time from power on until firmware starts to boot', whole, 2_000)
  .option('--erase <ms>', 'duration of an erasure of the disks', whole, 10_000)
  .option('--bmc-restart <ms>', 'duration of a BMC restart', whole, 20_000)
  .option('--flash <ms>', 'duration of the installation of a firmware', whole, 30_000)
  .option('--boot-url <url>', 'URL of the boot service; without it network boots find nothing')
  .option(
    '--probe-registry <url>',
    'URL of a registry; every network boot of a simulated server runs a probe that reports there without a token',
  )
  .option('--mac-prefixes <file>', 'write a MAC prefix database for the operator')
  .option('--endpoints <file>', 'write Endpoint manifests for kubectl apply')
  .option('--ca <file>', 'write the CA certificate (with --https)')
  .option('--control-port <port>', 'port of the control API on 127.0.0.1; 0 for none', portNumber, 8_099)
  .addOption(
    new Option('-o, --output <format>', 'output format of the server list').choices(['table', 'json']).default('table'),
  )
  .addHelpText('after', help);

async function main(flags: Flags): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  await using fleet = await startFleet(optionsOf(flags));
  for (let number = 0; number < flags.qemu; number += 1) await fleet.add({ machine: 'qemu' });
  await writeFiles(fleet, flags);
  await using _control = flags.controlPort === 0 ? undefined : await startControl(fleet, flags.controlPort);
  process.stdout.write(flags.output === 'json' ? `${JSON.stringify(rowsOf(fleet), undefined, 2)}\n` : tableOf(fleet));
  using _status = showStatus(fleet, process.stderr);
  await ended;
}

const optionsOf = (flags: Flags): Parameters<typeof startFleet>[0] => ({
  count: flags.count,
  vendors: flags.vendors,
  https: flags.https,
  latencyMs: flags.latency,
  powerOnMs: flags.powerOn,
  powerOffMs: flags.powerOff,
  bootMs: flags.boot,
  eraseMs: flags.erase,
  bmcRestartMs: flags.bmcRestart,
  flashMs: flags.flash,
  bootUrl: flags.bootUrl,
  probeRegistryUrl: flags.probeRegistry,
  seed: flags.seed,
  port: flags.port,
  network: flags.network,
  credentials: { username: flags.username, password: flags.password },
});

async function writeFiles(fleet: Fleet, { macPrefixes, endpoints, ca }: Flags): Promise<void> {
  // The file contains a password, although only of simulated BMCs.
  if (macPrefixes !== undefined) await writeFile(macPrefixes, fleet.macPrefixFile(), { mode: 0o600 });
  if (ca !== undefined && fleet.caPem !== undefined) await writeFile(ca, fleet.caPem);
  if (endpoints === undefined) return;
  await writeFile(endpoints, fleet.endpoints().map(endpointManifest).join('---\n'));
}

/** Block style: kubectl takes a file that starts with a brace for a stream of JSON, in which `---` is a mistake. */
const endpointManifest = ({ name, macAddress, ip }: { name: string; macAddress: string; ip: string }): string =>
  `apiVersion: metal.ironcore.dev/v1alpha1
kind: Endpoint
metadata:
  name: ${JSON.stringify(name)}
spec:
  macAddress: ${JSON.stringify(macAddress)}
  ip: ${JSON.stringify(ip)}
`;

const rowsOf = ({ nodes }: Fleet) =>
  nodes.map(({ name, vendor, uuid, bmc }) => ({
    name,
    vendor,
    url: bmc.url,
    macAddress: bmc.macAddress,
    systemUUID: uuid,
  }));

const mostRows = 20;

function tableOf(fleet: Fleet): string {
  const rows = rowsOf(fleet);
  const widest = Math.max(4, ...rows.map(({ name }) => name.length));
  const line = (name: string, url: string, mac: string, uuid: string) =>
    `${name.padEnd(widest)}  ${url.padEnd(28)}  ${mac.padEnd(17)}  ${uuid}`;
  const lines = rows.slice(0, mostRows).map((row) => line(row.name, row.url, row.macAddress, row.systemUUID));
  const more = rows.length > mostRows ? [`… and ${rows.length - mostRows} more (-o json lists all)`] : [];
  const end = `\n${rows.length} servers are up; Ctrl-C stops them.`;
  return `${[line('NAME', 'BMC', 'MAC ADDRESS', 'SYSTEM UUID'), ...lines, ...more, end].join('\n')}\n`;
}

command.action(async () => main(command.opts<Flags>()));
command.parseAsync().catch((error: unknown) => {
  const code = error instanceof FleetError ? `${error.code}: ` : '';
  process.stderr.write(`metal-fleet: ${code}${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
