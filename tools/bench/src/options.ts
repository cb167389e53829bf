import { Command, InvalidArgumentError, Option } from 'commander';
import { ownCommand } from '@metal/project/operator-process.ts';
import type { FleetSpeed } from './fleet-process.ts';
import { placeholders, quoted } from './operator/command-line.ts';
import { type OperatorFlagSetName, operatorFlagSetNames, operatorFlagSets } from './operator/operator-flag-sets.ts';
import type { ScenarioName } from './measurement.ts';
import { scenarios } from './scenario/scenarios.ts';

/** The simulated fleet and the operator. */
export interface FleetFlags {
  readonly servers: number;
  readonly latency: number;
  readonly power: number;
  readonly boot: number;
  readonly erase: number;
  readonly flash: number;
  readonly seed: string;
  readonly operator?: string;
  readonly operatorFlags?: OperatorFlagSetName;
}

export interface BenchFlags extends FleetFlags {
  readonly scenarios: readonly ScenarioName[];
  readonly steady: number;
  readonly output: 'table' | 'json';
}

const within =
  (least: number, most: number) =>
  (text: string): number => {
    const number = Number(text);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`expected a number from ${least} to ${most}`);
  };

const names = scenarios.map(({ name }) => name);
const isScenario = (text: string): text is ScenarioName => names.some((name) => name === text);

function scenarioList(text: string): ScenarioName[] {
  return text.split(',').map((name) => {
    if (!isScenario(name)) throw new InvalidArgumentError(`expected some of ${names.join(', ')}`);
    return name;
  });
}

const listed = (rows: readonly (readonly [string, string])[]): string => {
  const widest = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(widest)}  ${text}`).join('\n');
};

const help = `
Runs an operator against a Kubernetes API and simulated servers, each in a separate process. API requests come from the audit
log of the API server, BMC requests from the fleet, processor time and memory from the kernel: the measurement is the same for
every operator. API writes are creates, updates, patches, applies and deletes, including events, without leases.

With several replicas, the kernel is polled once a second for the process of each BMC connection. Requests on connections that
were closed before a poll belong to an unknown replica; their share is reported.

Scenarios:
${listed(scenarios.map(({ name, summary }) => [name, summary]))}

Another operator: --operator takes a shell command, optionally with leading assignments, and these words in braces:
${listed(Object.entries(placeholders).map(([name, text]) => [`{${name}}`, text]))}
--operator-flags adds a set of flags:
${listed(operatorFlagSetNames.map((name) => [name, operatorFlagSets[name].summary]))}
For another operator, the firmware of the machines runs a probe at each network boot, which reports without a token, and a stub
sets every ServerBootConfiguration to Ready.

Examples:
  make bench                                                     the default: all budgets
  make bench ARGS="--servers 1000"
  make bench ARGS="--scenarios bring-up -o json" | jq '.scenarios[].figures'
  make bench ARGS="--operator-flags ours --operator ../before/node_modules/.bin/metal-operator"
  make bench ARGS="--operator-flags v0.7.0 --operator 'ENABLE_WEBHOOKS=false /tmp/manager --leader-elect=false'"

Exit codes: 0 all budgets are met, 1 a budget is missed (see the last lines), 2 wrong usage, 3 nothing was measured.`;

/** A command with the options about the fleet and the operator. */
export const fleetOptions = (name: string, description: string, servers: number): Command =>
  new Command(name)
    .description(description)
    .option('--servers <count>', 'number of servers', within(1, 10_000), servers)
    .option('--latency <ms>', 'time before each answer of a BMC', within(0, 60_000), 20)
    .option('--power <ms>', 'time a server takes to go on or off', within(0, 60_000), 500)
    .option('--boot <ms>', 'time from power until firmware looks for something to boot', within(0, 600_000), 2_000)
    .option('--erase <ms>', 'time a server takes to erase its disks', within(0, 600_000), 1_000)
    .option('--flash <ms>', 'time the installation of an image takes', within(0, 600_000), 2_000)
    .option('--seed <text>', 'seed of the servers and of the degraded BMCs', 'bench')
    .option('--operator <command>', 'command of another operator (default: this checkout)')
    .addOption(new Option('--operator-flags <kind>', 'set of flags for --operator').choices(operatorFlagSetNames));

/** The command with its help. */
export const benchCommand = (name: string, description: string): Command =>
  fleetOptions(name, description, 200)
    .addOption(
      new Option('--scenarios <list>', 'scenarios to run, separated by commas').argParser(scenarioList).default(
        scenarios.filter(({ onlyWhenNamed }) => onlyWhenNamed !== true).map(({ name: each }) => each),
        'all but shards',
      ),
    )
    .option('--steady <seconds>', 'duration of the steady state', within(1, 3_600), 60)
    .addOption(new Option('-o, --output <format>', 'table or JSON').choices(['table', 'json']).default('table'))
    .addHelpText('after', help);

export const speedOf = ({ latency, power, boot, erase, flash }: FleetFlags): FleetSpeed => ({
  latencyMs: latency,
  powerMs: power,
  bootMs: boot,
  eraseMs: erase,
  flashMs: flash,
});

/** The operator of this checkout, unless another command is given; that one gets no flags by default. */
export function operatorChoiceOf({ operator, operatorFlags }: Pick<BenchFlags, 'operator' | 'operatorFlags'>) {
  const flagSet = operatorFlags ?? (operator === undefined ? 'ours' : 'none');
  return { command: operator ?? quoted(ownCommand), flagSet: operatorFlagSets[flagSet] };
}
