import type { Logger } from 'pino';
import type { KubeObject } from '../kinds/kind.ts';
import type { ControllerRuntime } from './definition.ts';
import type { StatusWriter } from './status-writer.ts';

/** Milliseconds until the next reconcile; undefined if the object rests until the next change. */
export type NextReconcile = number | undefined;

export interface ReconcilerOptions<T extends KubeObject, Phase extends string, Facts> {
  readonly runtime: ControllerRuntime;
  readonly log: Logger;
  readonly statusWriter: StatusWriter<T, Phase, Facts>;
  /** Runs an action outside of the limit on concurrent reconciles. */
  readonly runAction: <R>(action: () => Promise<R>) => Promise<R>;
  /** How often the reconcile of an object failed in a row. */
  readonly failuresOf: (key: string) => number;
}
