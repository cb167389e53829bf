import { bringUp } from './scenario/bring-up.ts';
import { claimStorm } from './scenario/claim-storm.ts';
import { releaseStorm } from './scenario/release-storm.ts';
import type { FleetState, Scenario } from './scenario/scenario.ts';
import { Stage, type StageOptions } from './stage.ts';

/** Transitions between states; their costs are not counted. */
const scenarioFrom: Readonly<Record<FleetState, Scenario>> = {
  unplugged: bringUp,
  available: claimStorm,
  claimed: releaseStorm,
};

/** The stage that scenarios share, opened on demand, and reopened for scenarios that start with an empty one. */
export class SharedStage implements AsyncDisposable {
  readonly #options: StageOptions;
  #stage: Stage | undefined;
  #state: FleetState = 'unplugged';

  constructor(options: StageOptions) {
    this.#options = options;
  }

  /** The stage with its fleet in the given state. */
  async reaching(wanted: FleetState): Promise<Stage> {
    if (wanted === 'unplugged' && this.#state !== wanted) await this[Symbol.asyncDispose]();
    const stage = (this.#stage ??= await Stage.open(this.#options));
    while (this.#state !== wanted) {
      const next = scenarioFrom[this.#state];
      await next.run(stage, { steadySeconds: 0, measured: () => undefined });
      this.#state = next.endState;
    }
    return stage;
  }

  /** Records a state that a scenario has reached. */
  setState(state: FleetState): void {
    this.#state = state;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stage?.[Symbol.asyncDispose]();
    this.#stage = undefined;
    this.#state = 'unplugged';
  }
}
