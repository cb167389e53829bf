import type { Measurement } from './measurement.ts';
import type { Progress } from './progress.ts';
import type { Scenario, ScenarioName } from './scenario/scenario.ts';
import { scenarios } from './scenario/scenarios.ts';
import { SharedStage } from './shared-stage.ts';
import { Stage, type StageWish } from './stage.ts';

export interface RunWish extends StageWish {
  readonly names: readonly ScenarioName[];
  readonly steadySeconds: number;
}

/** Runs the scenarios and those that they need, in their own order. */
export async function runScenarios(wish: RunWish): Promise<Measurement[]> {
  const { steadySeconds, progress } = wish;
  const measurements: Measurement[] = [];
  const measured = (name: ScenarioName) => measurements.find(({ scenario }) => scenario === name);
  await using shared = new SharedStage(wish);
  for (const scenario of withNeeded(wish.names)) {
    progress.say(`${scenario.name}: ${scenario.summary}`);
    // Two control planes at once would need each other's processors.
    if (scenario.ownStage !== undefined) await shared[Symbol.asyncDispose]();
    await using own = scenario.ownStage && (await Stage.open(stageWishOf(scenario.ownStage, wish)));
    const stage = own ?? (await shared.reaching(scenario.begins));
    stage.logErrors.take();
    const { figures, ...outcome } = await scenario.run(stage, { steadySeconds, measured });
    const logErrors = toldErrors(stage, scenario.name, progress);
    measurements.push({ scenario: scenario.name, ...outcome, figures: { ...figures, logErrors } });
    if (own === undefined) shared.stands(scenario.ends);
  }
  return measurements;
}

/** How many lines of level error operators wrote; one sees what they were. */
function toldErrors({ logErrors }: Stage, name: ScenarioName, progress: Progress): number | undefined {
  const { count, examples } = logErrors.take();
  for (const line of examples) progress.say(`${name}: error in the log: ${line}`);
  return count;
}

const stageWishOf = (own: NonNullable<Scenario['ownStage']>, wish: StageWish): StageWish => ({
  ...wish,
  ...own,
  servers: (own.servers?.(wish.servers) ?? wish.servers) + (own.moreServers ?? 0),
});

function withNeeded(names: readonly ScenarioName[]): Scenario[] {
  const wanted = new Set(names);
  // Later ones need earlier ones.
  for (const { name, needs } of scenarios.toReversed())
    if (wanted.has(name)) for (const need of needs) wanted.add(need);
  return scenarios.filter(({ name }) => wanted.has(name));
}
