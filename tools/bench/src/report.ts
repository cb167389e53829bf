import { budgets, missed, formatResult, type BudgetResult } from './budgets.ts';
import { type Counts, ranked } from './counts.ts';
import { type FigureName, figureNames, figures, type Measurement, type ScenarioName } from './measurement.ts';
import { isWrite } from './meter/audit-log.ts';

const mostRequests = 8;

export interface Report {
  /** The command line of the run. */
  readonly conditions: Readonly<Record<string, string | number>>;
  readonly measurements: readonly Measurement[];
  readonly budgetResults: readonly BudgetResult[];
}

/** The table: each scenario with its figures, its budgets and its most frequent requests. */
export function tableOf({ conditions, measurements, budgetResults }: Report): string {
  const head = Object.entries(conditions).map(([name, value]) => `${name} ${value}`);
  const failures = missed(budgetResults).map((result) => `missed  ${formatResult(result)}\n`);
  const end = failures.length === 0 ? [budgetResults.length === 0 ? '' : 'all budgets are met\n'] : failures;
  return [`${head.join(', ')}\n`, ...measurements.map((each) => sectionOf(each, budgetResults)), end.join('')].join(
    '\n',
  );
}

function sectionOf(measurement: Measurement, budgetResults: readonly BudgetResult[]): string {
  const { scenario, servers, apiRequests, redfishRequests } = measurement;
  const names = figureNames.filter((name) => name in measurement.figures);
  const widest = Math.max(...names.map((name) => figures[name].title.length));
  const rows = names.map(
    (name) => `  ${figures[name].title.padEnd(widest)}  ${cellOf(measurement, name, budgetResults)}\n`,
  );
  const writes = new Map([...apiRequests].filter(([name]) => isWrite(name)));
  return [
    `${scenario}, ${servers} ${servers === 1 ? 'server' : 'servers'}\n`,
    ...rows,
    mostFrequent('API writes', writes, servers),
    mostFrequent('Redfish', redfishRequests, servers),
  ].join('');
}

function cellOf(
  { scenario, figures: measured }: Measurement,
  name: FigureName,
  budgetResults: readonly BudgetResult[],
): string {
  const value = measured[name];
  if (value === undefined) return '–'.padStart(10);
  const text = `${value.toFixed(2).padStart(10)} ${figures[name].unit.padEnd(4)}`;
  const result = budgetResults.find(({ budget }) => budget.scenario === scenario && budget.figure === name);
  if (result === undefined) return `${text} ${formatOtherBudgets(scenario, name)}`.trimEnd();
  const { isMet, budget } = result;
  return `${text} ${isMet ? '✔' : '✘'} at most ${budget.atMost}${budget.isShownOnly === true ? ', not checked' : ''}`;
}

/** Budgets for other fleet sizes. */
function formatOtherBudgets(scenario: ScenarioName, figure: FigureName): string {
  const others = budgets.filter((budget) => budget.scenario === scenario && budget.figure === figure);
  const sizes = others.map(({ atMost, servers }) => `at most ${atMost} with ${servers?.from ?? 'fewer'}`);
  return sizes.length === 0 ? '' : `– ${sizes.join(', ')}`;
}

/** Per server, to compare fleets. */
function mostFrequent(title: string, counts: Counts, servers: number): string {
  const topRequests = ranked(counts).slice(0, mostRequests);
  if (topRequests.length === 0) return '';
  const lines = topRequests.map(([name, count]) => `      ${(count / servers).toFixed(2).padStart(7)}  ${name}\n`);
  return `    ${title} per server:\n${lines.join('')}`;
}

/** The JSON output. */
export function jsonOf({ conditions, measurements, budgetResults }: Report): string {
  const scenarios = measurements.map(({ scenario, servers, figures: measured, apiRequests, redfishRequests }) => ({
    scenario,
    servers,
    // Null: not available for this operator.
    figures: Object.fromEntries(Object.entries(measured).map(([name, value]) => [name, value ?? null])),
    apiRequests: Object.fromEntries(ranked(apiRequests)),
    redfishRequests: Object.fromEntries(ranked(redfishRequests)),
  }));
  const budgetRows = budgetResults.map(
    ({ budget: { scenario, figure, atMost, isShownOnly = false }, value, isMet }) => ({
      scenario,
      figure,
      value,
      atMost,
      isMet,
      isChecked: !isShownOnly,
    }),
  );
  return `${JSON.stringify({ conditions, scenarios, budgets: budgetRows }, undefined, 2)}\n`;
}
