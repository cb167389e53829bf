import { readFileSync } from 'node:fs';
import { parseDuration } from '@metal/api/common/duration.ts';
import { Command } from 'commander';

export interface ProbeFlags {
  registryUrl: string;
  serverUuid: string;
  tokenFile?: string;
  caFile?: string;
  description?: string;
  once?: boolean;
  duration: string;
  registryClientTimeout: string;
  lldpSyncInterval: string;
  lldpSyncDuration: string;
}

/** Configuration of one run of the probe. */
export interface ProbeConfig {
  registryUrl: string;
  systemUUID: string;
  token: string | undefined;
  caPem: string | undefined;
  descriptionFile: string | undefined;
  once: boolean;
  retryDelayMs: number;
  attemptTimeoutMs: number;
  lldp: { intervalMs: number; budgetMs: number };
}

const loggingOfEarlierReleases = [
  '--zap-devel',
  '--zap-encoder',
  '--zap-log-level',
  '--zap-stacktrace-level',
  '--zap-time-encoding',
];

/** The command with its help. */
export function probeCommand(): Command {
  const command = new Command('metalprobe')
    .description('Reports the hardware of this machine to the registry of the operator.')
    .option('--registry-url <url>', 'base URL of the registry (required)', '')
    .option('--server-uuid <uuid>', 'system UUID under which the machine reports (required)', '')
    .option(
      '--token-file <file>',
      'file with the token of this boot; required unless the registry accepts reports without a token',
    )
    .option('--ca-file <file>', 'CA certificates (PEM) that an https registry is verified against')
    .option('--description <file>', 'report the contents of this JSON file instead of the hardware inventory')
    .option('--once', 'exit after the report is accepted')
    .option('--duration <duration>', 'first pause between attempts; doubled after each attempt, up to one minute', '5s')
    .option('--registry-client-timeout <duration>', 'deadline of one attempt', '5s')
    .option('--lldp-sync-interval <duration>', 'pause between polls of the LLDP daemon', '5s')
    .option('--lldp-sync-duration <duration>', 'maximum wait for neighbours on ports with a link', '30s')
    .addHelpText('after', '\nExit codes: 0 reported, 1 not reported (see the last log line), 2 invalid options.');
  for (const flag of loggingOfEarlierReleases)
    command.option(`${flag} [value]`, 'accepted for compatibility, without effect');
  return command;
}

export interface Reading {
  command?: Command;
  /** Reads a file that an option names. Throws if it does not exist. */
  readFile?: (path: string) => string;
}

/** Accepts flags with one dash, as in Go. @throws Error with the option, the value found and the remedy. */
export function readProbeConfig(
  argv: readonly string[],
  { command = probeCommand(), readFile = (path) => readFileSync(path, 'utf8') }: Reading = {},
): ProbeConfig {
  command.parse(
    argv.map((argument) => (/^-[a-z][a-z-]+/.test(argument) ? `-${argument}` : argument)),
    { from: 'user' },
  );
  const flags = command.opts<ProbeFlags>();
  return {
    registryUrl: required('registry-url', flags.registryUrl),
    systemUUID: required('server-uuid', flags.serverUuid),
    token: optionalFile('token-file', flags.tokenFile, readFile)?.trim(),
    caPem: optionalFile('ca-file', flags.caFile, readFile),
    descriptionFile: flags.description,
    once: flags.once ?? false,
    retryDelayMs: duration('duration', flags.duration),
    attemptTimeoutMs: duration('registry-client-timeout', flags.registryClientTimeout),
    lldp: {
      intervalMs: duration('lldp-sync-interval', flags.lldpSyncInterval),
      budgetMs: duration('lldp-sync-duration', flags.lldpSyncDuration),
    },
  };
}

function required(name: string, value: string): string {
  if (value === '') throw new Error(`--${name} is required; see --help`);
  return value;
}

function optionalFile(name: string, path: string | undefined, readFile: (path: string) => string): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFile(path);
  } catch (cause) {
    throw new Error(`--${name}: cannot read ${path}; specify a readable file or omit the option`, { cause });
  }
}

function duration(name: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < 0)
    throw new Error(`--${name}: expected a duration such as 5s or 1m30s, found "${text}"`);
  return ms;
}
