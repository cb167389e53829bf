import type { Measurement, ScenarioName } from '../measurement.ts';
import type { Stage, StageOptions } from '../stage.ts';

/** State of all servers of a stage: unknown, available, or booted for a claim. */
export type FleetState = 'unplugged' | 'available' | 'claimed';

/** Parameters of a scenario. */
export interface ScenarioContext {
  /** Duration of the steady state. */
  readonly steadySeconds: number;
  /** Results of its prerequisites. */
  readonly measured: (name: ScenarioName) => Measurement | undefined;
}

/** A scenario: state of the fleet before and after, and the load in between. */
export interface Scenario {
  readonly name: ScenarioName;
  /** One line of text. */
  readonly summary: string;
  /** Scenarios whose figures are the reference of this one. */
  readonly needs: readonly ScenarioName[];
  readonly startState: FleetState;
  readonly endState: FleetState;
  /** Set for a scenario with a separate stage, so that its faults do not affect others. */
  readonly ownStage?: {
    /** Number of servers, from the requested number. */
    readonly servers?: (requested: number) => number;
    /** Additional flags. */
    readonly moreServers?: number;
    readonly operatorFlags?: readonly string[];
    readonly prepare?: NonNullable<StageOptions['prepare']>;
    /** Vendors of the servers, separated by commas. Default: those of the simulator in rotation. */
    readonly vendors?: string;
    /** The fleet is brought into this state first; its costs are not counted. */
    readonly startState?: 'available';
  };
  /** Whether the operator supports it. */
  readonly onlyWhenNamed?: true;
  run(stage: Stage, context: ScenarioContext): Promise<Pick<Measurement, Exclude<keyof Measurement, 'scenario'>>>;
}

/** Result of a scenario, without its name. */
export type Outcome = Awaited<ReturnType<Scenario['run']>>;
