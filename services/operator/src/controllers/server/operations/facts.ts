import {
  ignoringOperations,
  operationAnnotation,
  operations,
  operationUnderWayAnnotation,
} from '@metal/api/wire/contract.ts';
import type { ResetType } from '@metal/redfish/resources/power.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';

/** What a person asks for once, by annotation. */
export type OperationFacts =
  | { readonly kind: 'none' }
  | { readonly kind: 'park'; readonly value: string }
  | { readonly kind: 'unpark'; readonly value: string }
  | { readonly kind: 'retry'; readonly value: string }
  | { readonly kind: 'rediscover'; readonly value: string }
  | { readonly kind: 'unsupported'; readonly value: string }
  | { readonly kind: 'reset'; readonly value: string; readonly type: ResetType }
  /** A process that took it up has ended; whether the machine was reset nobody knows. */
  | { readonly kind: 'interrupted'; readonly value: string };

const resetTypes: Readonly<Record<string, ResetType>> = {
  [operations.gracefulRestartServer]: 'GracefulRestart',
  [operations.hardRestartServer]: 'ForceRestart',
  [operations.powerCycleServer]: 'PowerCycle',
  [operations.forceOffServer]: 'ForceOff',
  [operations.forceOnServer]: 'ForceOn',
};

export function operationFacts({ metadata }: Server, memory: ObservedSystem): OperationFacts {
  const annotations = metadata.annotations ?? {};
  const underWay = annotations[operationUnderWayAnnotation];
  if (underWay !== undefined && memory.operation === undefined) return { kind: 'interrupted', value: underWay };
  const value = annotations[operationAnnotation] ?? '';
  const type = resetTypes[value];
  if (type !== undefined) return { kind: 'reset', value, type };
  if (value === 'park' || value === 'unpark' || value === 'retry' || value === 'rediscover')
    return { kind: value, value };
  return isForOthers(value) ? { kind: 'none' } : { kind: 'unsupported', value };
}

/** Words that are heard elsewhere: by the runner, which leaves the object alone, and by its deletion. */
const isForOthers = (value: string): boolean =>
  value === '' || value === operations.allowInProgressDelete || ignoringOperations.some((known) => known === value);
