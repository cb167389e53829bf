import { type FigureName, figures, type Measurement, type ScenarioName } from './measurement.ts';

/** Upper limit of a figure under the reference conditions: 20 ms per BMC request, 0.5 s to power on, 2 s to boot. */
export interface Budget {
  readonly scenario: ScenarioName;
  readonly figure: FigureName;
  readonly atMost: number;
  /** Fleet sizes that it applies to. Default: all. In small fleets the start of the process dominates the figure. */
  readonly servers?: { readonly from?: number; readonly to?: number };
  /** Shown, but never fails: seconds depend on the machine too. Counts and ratios are checked. */
  readonly isShownOnly?: true;
}

/** Large enough for figures per server. */
const fleet = { from: 50 };
const small = { from: 200, to: 200 };
const large = { from: 1_000, to: 1_000 };
/** Large enough for hashing: with few BMCs one replica may own a tenth more than another by chance. */
const hashed = { from: 2_000 };
/** Large enough that the start of the process does not dominate its memory. */
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
/** Scenarios in which the fleet does not grow. */
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
  { scenario: 'rollout', figure: 'apiWritesPerServer', atMost: 30 },
  { scenario: 'rollout', figure: 'redfishPerServer', atMost: 60 },
  { scenario: 'rollout', figure: 'mostInMaintenance', atMost: 20, servers: small },
  // On, twice off and on, off.
  { scenario: 'rollout', figure: 'powerActionsPerServer', atMost: 6 },
  { scenario: 'hosts', figure: 'apiWritesPerServer', atMost: 75, servers: fleet },
  { scenario: 'hosts', figure: 'redfishPerServer', atMost: 60, servers: fleet },
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

/** Compares measured figures with their budgets. Figures that were not measured are omitted. */
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

/** Ignores hundredths, because costs per fleet are not costs of a server. */
const counted = (value: number, { figure }: Budget): number =>
  figure === 'apiWritesPerServer' || figure === 'redfishPerServer' ? Number(value.toFixed(1)) : value;

const appliesTo = ({ servers: { from = 0, to = Infinity } = {} }: Budget, servers: number): boolean =>
  servers >= from && servers <= to;

/** Results that fail the run. */
export const missed = (results: readonly BudgetResult[]): BudgetResult[] =>
  results.filter(({ isMet, budget }) => !isMet && budget.isShownOnly !== true);

/** One line of text. */
export function formatResult({ budget: { scenario, figure, atMost }, value }: BudgetResult): string {
  const { title, unit } = figures[figure];
  return `${scenario}: ${title} is ${value.toFixed(2)} ${unit}; at most ${atMost} was expected`.replace(' ;', ';');
}
