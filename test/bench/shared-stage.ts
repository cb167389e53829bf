import { bringUp } from './scenario/bring-up.ts';
import { claimStorm } from './scenario/claim-storm.ts';
import { releaseStorm } from './scenario/release-storm.ts';
import type { FleetState, Scenario } from './scenario/scenario.ts';
import { Stage, type StageOptions } from './stage.ts';

/** From each state the way on; what is spent on the way is nobody's figure. */
const scenarioFrom: Readonly<Record<FleetState, Scenario>> = {
  unplugged: bringUp,
  available: claimStorm,
  claimed: releaseStorm,
};

/** The stage that scenarios share, opened when it is needed, and anew for those that begin with an empty one. */
export class SharedStage implements AsyncDisposable {
  readonly #options: StageOptions;
  #stage: Stage | undefined;
  #state: FleetState = 'unplugged';

  constructor(options: StageOptions) {
    this.#options = options;
  }

  /** The stage, once its fleet stands as it is wanted. */
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

  /** Told by whoever has changed that. */
  setState(state: FleetState): void {
    this.#state = state;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stage?.[Symbol.asyncDispose]();
    this.#stage = undefined;
    this.#state = 'unplugged';
  }
}
