import { type FigureName, figures, type Measurement, type ScenarioName } from './measurement.ts';

/** What a figure may be at most, under the reference conditions: 20 ms per BMC request, 0.5 s to power on, 2 s to boot. */
export interface Budget {
  readonly scenario: ScenarioName;
  readonly figure: FigureName;
  readonly atMost: number;
  /** How many servers it is for: with fewer, what a process costs to start is most of the figure. Any number, if left out. */
  readonly servers?: { readonly from?: number; readonly to?: number };
  /** It is shown and fails nothing: seconds are of the machine as much as of the operator. Counts and ratios are checked. */
  readonly isShownOnly?: true;
}

/** A fleet that is big enough to be told per server. */
const fleet = { from: 50 };
const small = { from: 200, to: 200 };
const large = { from: 1_000, to: 1_000 };
/** Who gets a BMC is hashed: of few of them somebody has a tenth more than others by chance. */
const hashed = { from: 2_000 };
/** Below, what a process needs to start is most of its memory. */
const grown = { from: 1_000 };

const faultFreeScenarios = [
  'bring-up',
  'claim-storm',
  'release-storm',
  'steady',
  'restart',
  'failover',
  'shards',
] as const;
/** Where the fleet does not grow. */
const storms = ['claim-storm', 'release-storm'] as const;

export const budgets: readonly Budget[] = [
  { scenario: 'bring-up', figure: 'wallSeconds', atMost: 12, servers: small, isShownOnly: true },
  { scenario: 'bring-up', figure: 'wallSeconds', atMost: 45, servers: large, isShownOnly: true },
  { scenario: 'bring-up', figure: 'timesOneServer', atMost: 3, servers: small },
  { scenario: 'bring-up', figure: 'timesOneServer', atMost: 10, servers: large },
  { scenario: 'bring-up', figure: 'apiWritesPerServer', atMost: 14 },
  { scenario: 'bring-up', figure: 'redfishPerServer', atMost: 25 },
  { scenario: 'bring-up', figure: 'cpuMsPerServer', atMost: 70, servers: fleet },
  { scenario: 'bring-up', figure: 'peakMiB', atMost: 250, servers: large },
  { scenario: 'claim-storm', figure: 'peakMiB', atMost: 250, servers: large },
  { scenario: 'release-storm', figure: 'peakMiB', atMost: 250, servers: large },
  { scenario: 'steady', figure: 'redfishPerServerMinute', atMost: 1 },
  { scenario: 'steady', figure: 'apiWritesPerServerMinute', atMost: 0.05 },
  { scenario: 'degraded-fleet', figure: 'slowerPercent', atMost: 10, servers: fleet },
  { scenario: 'degraded-fleet', figure: 'slowerP90Percent', atMost: 10, servers: fleet },
  { scenario: 'restart', figure: 'powerActions', atMost: 0 },
  { scenario: 'restart', figure: 'otherWrites', atMost: 0 },
  { scenario: 'restart', figure: 'statusWritesPerServer', atMost: 1 },
  { scenario: 'restart', figure: 'warmSeconds', atMost: 5, servers: large },
  { scenario: 'failover', figure: 'beyondLeaseSeconds', atMost: 2 },
  { scenario: 'shards', figure: 'unevenPercent', atMost: 10, servers: hashed },
  { scenario: 'shards', figure: 'takeoverSeconds', atMost: 20 },
  { scenario: 'shards', figure: 'bmcsSharedAtOnce', atMost: 0 },
  ...storms.map((scenario): Budget => ({ scenario, figure: 'growthPercent', atMost: 10, servers: grown })),
  { scenario: 'release-storm', figure: 'beyondClaimsPercent', atMost: 15, servers: grown },
  ...faultFreeScenarios.map((scenario): Budget => ({ scenario, figure: 'logErrors', atMost: 0 })),
];

export interface BudgetResult {
  readonly budget: Budget;
  readonly value: number;
  readonly isMet: boolean;
}

/** Judges what was measured; a budget whose figure was not measured is not judged. */
export function evaluateBudgets(
  measurements: readonly Measurement[],
  all: readonly Budget[] = budgets,
): BudgetResult[] {
  return measurements.flatMap(({ scenario, servers, figures: measured }) =>
    all.flatMap((budget) => {
      const value = measured[budget.figure];
      if (budget.scenario !== scenario || value === undefined || !appliesTo(budget, servers)) return [];
      return [{ budget, value, isMet: counted(value, budget) <= budget.atMost }];
    }),
  );
}

/** What is asked for once per fleet is no cost of a server: tenths count, and hundredths do not. */
const counted = (value: number, { figure }: Budget): number =>
  figure === 'apiWritesPerServer' || figure === 'redfishPerServer' ? Number(value.toFixed(1)) : value;

const appliesTo = ({ servers: { from = 0, to = Infinity } = {} }: Budget, servers: number): boolean =>
  servers >= from && servers <= to;

/** What makes the run fail. */
export const missed = (results: readonly BudgetResult[]): BudgetResult[] =>
  results.filter(({ isMet, budget }) => !isMet && budget.isShownOnly !== true);

/** One line for people. */
export function formatResult({ budget: { scenario, figure, atMost }, value }: BudgetResult): string {
  const { title, unit } = figures[figure];
  return `${scenario}: ${title} is ${value.toFixed(2)} ${unit}; at most ${atMost} was expected`.replace(' ;', ';');
}
