import type { Measurement, ScenarioName } from '../measurement.ts';
import type { Stage } from '../stage.ts';

/** How all servers of a stage stand: nobody knows of them, they wait for claims, or each has booted for one. */
export type FleetState = 'unplugged' | 'available' | 'claimed';

/** What a scenario reads beside its stage. */
export interface ScenarioContext {
  /** Of steady state. */
  readonly steadySeconds: number;
  /** Of the scenarios that it needs. */
  readonly measured: (name: ScenarioName) => Measurement | undefined;
}

/** One thing that is measured: how the fleet stands before and after, and what happens between. */
export interface Scenario {
  readonly name: ScenarioName;
  /** One line for people. */
  readonly summary: string;
  /** What else has to be measured before, since figures are told against it. */
  readonly needs: readonly ScenarioName[];
  readonly startState: FleetState;
  readonly endState: FleetState;
  /** Set, when it plays on a stage of its own; the figures of others are not touched by what it breaks. */
  readonly ownStage?: {
    /** By how many were asked for. */
    readonly servers?: (requested: number) => number;
    /** Beside those that were asked for. */
    readonly moreServers?: number;
    readonly operatorFlags?: readonly string[];
  };
  /** Not every operator can play it. */
  readonly onlyWhenNamed?: true;
  run(stage: Stage, context: ScenarioContext): Promise<Pick<Measurement, Exclude<keyof Measurement, 'scenario'>>>;
}

/** What a scenario measured, without its name. */
export type Outcome = Awaited<ReturnType<Scenario['run']>>;
