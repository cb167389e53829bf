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

/** What a run of the probe is told from outside. */
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
    .option('--token-file <file>', 'file with the token of this boot; without one the registry has to accept anybody')
    .option('--ca-file <file>', 'certificates (PEM) that an https registry is verified against')
    .option('--description <file>', 'report what this JSON file says instead of looking at the machine')
    .option('--once', 'end as soon as the report is accepted')
    .option('--duration <duration>', 'first pause between attempts; later pauses double, up to a minute', '5s')
    .option('--registry-client-timeout <duration>', 'deadline of one attempt', '5s')
    .option('--lldp-sync-interval <duration>', 'pause between questions to the LLDP daemon', '5s')
    .option('--lldp-sync-duration <duration>', 'how long to wait for neighbours on ports with a link', '30s')
    .addHelpText(
      'after',
      '\nExit codes: 0 reported, 1 not reported (the last line says why), 2 the options make no sense.',
    );
  for (const flag of loggingOfEarlierReleases)
    command.option(`${flag} [value]`, 'accepted for compatibility, without effect');
  return command;
}

export interface Reading {
  command?: Command;
  /** Where the files are that options name. Throws for those that are not there. */
  readFile?: (path: string) => string;
}

/** Flags in the manner of Go: one dash will do. @throws Error naming the option, what was found and what to do. */
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
    throw new Error(`--${name}: cannot read ${path}; give a readable file or leave the option out`, { cause });
  }
}

function duration(name: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < 0)
    throw new Error(`--${name}: expected a duration such as 5s or 1m30s, found "${text}"`);
  return ms;
}
