/** The closing lines of node:test, in their order. */
const counts = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo'] as const;

export type TestSummary = Readonly<Record<(typeof counts)[number], number>>;

/** The last summary of node:test in the output of its reporter `spec`; undefined if a count is missing. */
export function summaryIn(output: string): TestSummary | undefined {
  const found = new Map([...output.matchAll(/^ℹ (\w+) (\d+)$/gm)].map(([, name, count]) => [name, Number(count)]));
  if (counts.some((name) => !found.has(name))) return undefined;
  return summaryOf((name) => found.get(name) ?? 0);
}

export const sumOf = (summaries: readonly TestSummary[]): TestSummary =>
  summaryOf((name) => summaries.reduce((sum, summary) => sum + summary[name], 0));

/** As node:test prints it. */
export const describeSummary = (summary: TestSummary, wallMs: number): string =>
  [...counts.map((name) => `ℹ ${name} ${summary[name]}`), `ℹ duration_ms ${wallMs}`].join('\n');

const summaryOf = (countOf: (name: keyof TestSummary) => number): TestSummary =>
  // `counts` has each name.
  Object.fromEntries(counts.map((name) => [name, countOf(name)])) as TestSummary;
