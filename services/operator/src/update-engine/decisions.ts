import type { Decision } from '@metal/kube/controller/decide.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { UpdateReason } from './reasons.ts';

export type Done = 'Applied' | 'Completed';
export type UpdatePhase = 'Pending' | 'InProgress' | 'Failed' | Done;
export type UpdateAction =
  | 'claimTarget'
  | 'compare'
  | 'readVariables'
  | 'requestMaintenance'
  | 'releaseMaintenance'
  | 'startAttempt'
  | 'resetBmcFirst'
  | 'prepare'
  | 'recordIntent'
  | 'apply'
  | 'findSent'
  | 'readTask'
  | 'turnOff'
  | 'turnOn'
  | 'recordOff'
  | 'recordRestart'
  | 'resetBmc'
  | 'beginStep'
  | 'recordFailure'
  | 'beginRetry'
  | 'endAttempt'
  | 'holdForRollout'
  | 'releaseTarget';

/** Phases of the engine; Done is Applied or Completed, by kind. */
export type Inner = 'Pending' | 'InProgress' | 'Failed' | 'Done';
/** A decision that may only enter the given phases. */
export type Step<Phase extends Inner = never> = Decision<Phase, UpdateAction, UpdateReason>;

export const resyncMs = minutes(10);
