import type { Option } from '@metal/api/common/options.ts';
import { ConfigError } from '@metal/kube/config-error.ts';
import { Command, CommanderError } from 'commander';
import { compatibleOptions, formerNames, helpOf, ownOptions } from './option-list.ts';
import { configOf, type MetalOperatorConfig } from './options.ts';
import { describeBuild } from './version.ts';

const options = [...compatibleOptions, ...ownOptions];

/** @throws ConfigError that names the flag, what was found and what is expected. */
export const readConfig = (argv: readonly string[], environment: NodeJS.ProcessEnv): MetalOperatorConfig =>
  configOf(readCommandLine(argv, describeBuild()), environment);

/**
 * Reads flags as Go's flag package does: one dash or two, `--flag value` or `--flag=value`, and booleans as `--flag`
 * or `--flag=false` but never `--flag false`.
 */
function readCommandLine(argv: readonly string[], version: string): Record<string, string> {
  const command = commandOf(version);
  parse(command, normaliseArguments(argv));
  const [stray] = command.args;
  if (stray !== undefined)
    throw new ConfigError(
      `unexpected argument "${stray}": options start with --, and a switch is turned off by --name=false`,
    );
  const given = command.opts<Record<string, string>>();
  return Object.fromEntries(options.map(({ flag }) => [flag, given[attributeOf(flag)] ?? '']));
}

/** Help goes to stdout as usual. A mistake becomes a ConfigError, so that the process prints it once. */
function parse(command: Command, argv: readonly string[]): void {
  command.exitOverride().configureOutput({ outputError: () => undefined });
  try {
    command.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) process.exit(0);
    throw new ConfigError(`${error.message.replace(/^error: /, '')}; --help lists the options`, error);
  }
}

function commandOf(version: string): Command {
  const command = new Command('metal-operator')
    .description('Takes bare-metal servers from a MAC address to a claimed machine and back.')
    .version(version, '--version', 'print the version')
    .allowExcessArguments()
    .configureHelp({ helpWidth: 120, showGlobalOptions: true });
  for (const option of options) {
    const { flag, type, default: fallback } = option;
    const flags = `--${flag} <${placeholders[type] ?? type}>`;
    if (type === 'pairs') command.option(flags, helpOf(option), appendPair, fallback);
    else command.option(flags, helpOf(option), fallback);
  }
  return command;
}

const placeholders: Partial<Record<Option['type'], string>> = { boolean: 'true|false', pairs: 'key=value' };

/** Pairs are collected as lines of one text. */
function appendPair(pair: string, before: string): string {
  if (/[\r\n]/.test(pair)) throw new ConfigError('a pair is one line; found a line break in it');
  return `${before}${pair}\n`;
}

const attributeOf = (flag: string): string => flag.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const booleans = new Set(options.filter(({ type }) => type === 'boolean').map(({ flag }) => flag));

function normaliseArguments(argv: readonly string[]): string[] {
  return argv.map((argument) => {
    const long = /^-[a-z0-9-]{2,}/.test(argument) && !argument.startsWith('--') ? `-${argument}` : argument;
    return renameFormer(long.startsWith('--') && booleans.has(long.slice(2)) ? `${long}=true` : long);
  });
}

function renameFormer(argument: string): string {
  const [, name, rest = ''] = /^--([a-z-]+)(=.*)?$/s.exec(argument) ?? [];
  const present = name === undefined ? undefined : formerNames[name];
  return present === undefined ? argument : `--${present}${rest}`;
}
