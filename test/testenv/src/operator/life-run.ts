import assert from 'node:assert/strict';
import type { Node } from '@metal/simulator/fleet.ts';
import { type EndState, endStateOf, untilEndState } from '../assertions/end-state.ts';
import type { ImageServer } from '../network/image-server.ts';
import type { Testenv } from '../testenv.ts';
import { type FaultPointCounts, FaultPointWatch } from './fault-points.ts';
import type { RestartingOperator } from './restarting-operator.ts';

/** What a life without kills has led to. */
export interface Undisturbed {
  readonly counts: FaultPointCounts;
  readonly values: ReadonlyMap<string, unknown>;
}

interface LifeRunParts {
  readonly testenv: Testenv;
  readonly operator: RestartingOperator;
  readonly images: ImageServer;
  readonly node: Node;
  /** Undefined for a run without kills, and for lives without one. */
  readonly goal: Undisturbed | undefined;
}

/** One life of one machine. */
export class LifeRun {
  readonly testenv: Testenv;
  readonly operator: RestartingOperator;
  readonly images: ImageServer;
  readonly node: Node;
  readonly goal: Undisturbed | undefined;
  /** Of this life, by name. */
  readonly values = new Map<string, unknown>();
  #faultPoints: FaultPointWatch | undefined;

  constructor({ testenv, operator, images, node, goal }: LifeRunParts) {
    this.testenv = testenv;
    this.operator = operator;
    this.images = images;
    this.node = node;
    this.goal = goal;
  }

  get serverName(): string {
    return `${this.node.name}-system-0`;
  }

  get server(): ReturnType<Testenv['server']> {
    return this.testenv.server(this.node);
  }

  /** From the Endpoint to an Available server. */
  async becomesAvailable(): Promise<void> {
    await this.testenv.plugIn(this.node);
    await this.server.hasReason('Available');
  }

  /** A claim of the server, which runs for it in the end. */
  async isClaimed(): Promise<Awaited<ReturnType<Testenv['claim']>>> {
    const { node } = this;
    const claim = await this.testenv.claim({ image: 'registry.test/os:1', on: node, name: this.claimName });
    await this.server.hasReason('ClaimServed');
    return claim;
  }

  get claimName(): string {
    return `${this.node.name}-claim`;
  }

  /** From now on. */
  countFaultPoints(): FaultPointWatch {
    return (this.#faultPoints = new FaultPointWatch(this.testenv, this.node));
  }

  get faultPoints(): FaultPointWatch {
    return this.#faultPoints ?? assert.fail('fault points are counted after the begin of a life');
  }

  /** The value of the life without kills; in that life itself, this one. */
  withoutKills<T>(name: string, value: T): T {
    this.values.set(name, value);
    // A life gives each name to values of one type.
    return this.goal === undefined ? value : (this.goal.values.get(name) as T);
  }

  /** The same with and without kills. */
  isSame(name: string, value: unknown): void {
    assert.deepEqual(value, this.withoutKills(name, value), `${name}, as without kills`);
  }

  /**
   * Waits until everything is as at this point of the life without kills. It has names and addresses: compared are machines of the same
   * place in their racks.
   */
  async hasEndState(point: string): Promise<EndState> {
    const { testenv, node, goal } = this;
    if (goal === undefined) await testenv.untilStable(2_000);
    const expected = this.withoutKills(point, endStateOf(testenv, node));
    await untilEndState(testenv, node, expected);
    return expected;
  }
}
