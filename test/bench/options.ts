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
An operator works on a real Kubernetes API and simulated servers; each of the three is a process of its own. What it asked
of the API server comes from the API server's audit log, what it asked of BMCs from the fleet, processor time and memory
from the kernel: the same for every operator, which knows nothing of being measured. API writes are creates, updates,
patches, applies and deletes, events included; those of leases are left out, since the clock makes them.

With several replicas, whose request a BMC gets is told by the connection: the kernel is asked once a second. Connections that were
closed by then are of an unknown replica; how many requests came over these is told.

Scenarios:
${listed(scenarios.map(({ name, summary }) => [name, summary]))}

Another operator: --operator takes a command of the shell, which may begin with assignments, and these words in braces:
${listed(Object.entries(placeholders).map(([name, text]) => [`{${name}}`, text]))}
--operator-flags adds flags to it:
${listed(operatorFlagSetNames.map((name) => [name, operatorFlagSets[name].summary]))}
Where the operator is not ours, its machines run a probe out of their firmware whenever they boot from the network, which
reports without a token, and every ServerBootConfiguration is set to Ready for it.

Examples:
  make bench                                                     what the budgets are about
  make bench ARGS="--servers 1000"
  make bench ARGS="--scenarios bring-up -o json" | jq '.scenarios[].figures'
  make bench ARGS="--operator-flags ours --operator ../before/node_modules/.bin/metal-operator"
  make bench ARGS="--operator-flags v0.7.0 --operator 'ENABLE_WEBHOOKS=false /tmp/manager --leader-elect=false'"

Exit codes: 0 every budget is met, 1 one is missed (the last lines say which), 2 wrong usage, 3 nothing was measured.`;

/** A command with the options about the fleet and the operator. */
export const fleetOptions = (name: string, description: string, servers: number): Command =>
  new Command(name)
    .description(description)
    .option('--servers <count>', 'number of servers', within(1, 10_000), servers)
    .option('--latency <ms>', 'time before each answer of a BMC', within(0, 60_000), 20)
    .option('--power <ms>', 'time a server takes to go on or off', within(0, 60_000), 500)
    .option('--boot <ms>', 'time from power until firmware looks for something to boot', within(0, 600_000), 2_000)
    .option('--erase <ms>', 'time a server takes to erase its disks', within(0, 600_000), 1_000)
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

export const speedOf = ({ latency, power, boot, erase }: FleetFlags): FleetSpeed => ({
  latencyMs: latency,
  powerMs: power,
  bootMs: boot,
  eraseMs: erase,
});

/** The operator of this checkout, unless another command is given; that one gets no flags by default. */
export function operatorChoiceOf({ operator, operatorFlags }: Pick<BenchFlags, 'operator' | 'operatorFlags'>) {
  const flagSet = operatorFlags ?? (operator === undefined ? 'ours' : 'none');
  return { command: operator ?? quoted(ownCommand), flagSet: operatorFlagSets[flagSet] };
}
