import type { Measurement } from './measurement.ts';
import { bringUp } from './scenario/bring-up.ts';
import { claimStorm } from './scenario/claim-storm.ts';
import { releaseStorm } from './scenario/release-storm.ts';
import type { FleetState, Scenario, ScenarioName } from './scenario/scenario.ts';
import { scenarios } from './scenario/scenarios.ts';
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
    measurements.push({ scenario: scenario.name, ...(await scenario.run(stage, { steadySeconds, measured })) });
    if (own === undefined) shared.stands(scenario.ends);
  }
  return measurements;
}

const stageWishOf = (own: NonNullable<Scenario['ownStage']>, wish: StageWish): StageWish => ({
  ...wish,
  ...own,
  servers: (own.servers ?? wish.servers) + (own.moreServers ?? 0),
});

function withNeeded(names: readonly ScenarioName[]): Scenario[] {
  const wanted = new Set(names);
  // Later ones need earlier ones.
  for (const { name, needs } of scenarios.toReversed())
    if (wanted.has(name)) for (const need of needs) wanted.add(need);
  return scenarios.filter(({ name }) => wanted.has(name));
}

/** From each state the way on; what is spent on the way is nobody's figure. */
const wayOn: Readonly<Record<FleetState, Scenario>> = {
  unplugged: bringUp,
  available: claimStorm,
  claimed: releaseStorm,
};

/** The stage that scenarios share, opened when it is needed, and anew for those that begin with an empty one. */
class SharedStage implements AsyncDisposable {
  readonly #wish: StageWish;
  #stage: Stage | undefined;
  #state: FleetState = 'unplugged';

  constructor(wish: StageWish) {
    this.#wish = wish;
  }

  async reaching(wanted: FleetState): Promise<Stage> {
    if (wanted === 'unplugged' && this.#state !== wanted) await this[Symbol.asyncDispose]();
    const stage = (this.#stage ??= await Stage.open(this.#wish));
    while (this.#state !== wanted) {
      const next = wayOn[this.#state];
      await next.run(stage, { steadySeconds: 0, measured: () => undefined });
      this.#state = next.ends;
    }
    return stage;
  }

  stands(state: FleetState): void {
    this.#state = state;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stage?.[Symbol.asyncDispose]();
    this.#stage = undefined;
    this.#state = 'unplugged';
  }
}
