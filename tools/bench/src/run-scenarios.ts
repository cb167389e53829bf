import type { Measurement, ScenarioName } from './measurement.ts';
import type { Progress } from './progress.ts';
import type { Scenario } from './scenario/scenario.ts';
import { bringUp } from './scenario/bring-up.ts';
import { scenarios } from './scenario/scenarios.ts';
import { SharedStage } from './shared-stage.ts';
import { Stage, type StageOptions } from './stage.ts';

export interface RunOptions extends StageOptions {
  readonly names: readonly ScenarioName[];
  readonly steadySeconds: number;
}

/** Runs the scenarios and their prerequisites, in a fixed order. */
export async function runScenarios(options: RunOptions): Promise<Measurement[]> {
  const { steadySeconds, progress } = options;
  const measurements: Measurement[] = [];
  const measured = (name: ScenarioName) => measurements.find(({ scenario }) => scenario === name);
  await using shared = new SharedStage(options);
  for (const scenario of withNeeded(options.names)) {
    progress.log(`${scenario.name}: ${scenario.summary}`);
    // Two control planes at once would compete for processors.
    if (scenario.ownStage !== undefined) await shared[Symbol.asyncDispose]();
    await using own = scenario.ownStage && (await Stage.open(stageOptionsOf(scenario.ownStage, options)));
    if (own !== undefined && scenario.ownStage?.startState === 'available')
      await bringUp.run(own, { steadySeconds, measured });
    const stage = own ?? (await shared.reaching(scenario.startState));
    stage.logErrors.take();
    const { figures, ...outcome } = await scenario.run(stage, { steadySeconds, measured });
    const logErrors = reportLogErrors(stage, scenario.name, progress);
    measurements.push({ scenario: scenario.name, ...outcome, figures: { ...figures, logErrors } });
    if (own === undefined) shared.setState(scenario.endState);
  }
  return measurements;
}

/** Number of error lines of the operators; the lines are printed. */
function reportLogErrors({ logErrors }: Stage, name: ScenarioName, progress: Progress): number | undefined {
  const { count, examples } = logErrors.take();
  for (const line of examples) progress.log(`${name}: error in the log: ${line}`);
  return count;
}

const stageOptionsOf = (own: NonNullable<Scenario['ownStage']>, options: StageOptions): StageOptions => ({
  ...options,
  ...own,
  servers: (own.servers?.(options.servers) ?? options.servers) + (own.moreServers ?? 0),
});

function withNeeded(names: readonly ScenarioName[]): Scenario[] {
  const wanted = new Set(names);
  // Later scenarios need earlier ones.
  for (const { name, needs } of scenarios.toReversed())
    if (wanted.has(name)) for (const need of needs) wanted.add(need);
  return scenarios.filter(({ name }) => wanted.has(name));
}
