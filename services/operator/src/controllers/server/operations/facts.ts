import type { Server } from '@metal/api/v1alpha1/server.ts';
import {
  ignoringOperations,
  operationAnnotation,
  operations,
  operationUnderWayAnnotation,
  parkedAnnotation,
} from '@metal/api/wire/contract.ts';
import { type DecommissionOperation, decommissionOperations } from '@metal/api/wire/decommission.ts';
import type { ResetType } from '@metal/redfish/resources/power.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';

export interface OperationsFacts {
  readonly operation: OperationFacts;
  readonly parked: boolean;
  /** An event reported in the present state that parking has to wait. */
  readonly parkDeferralReported: boolean;
}

/** A request by annotation, carried out once. */
export type OperationFacts =
  | { readonly kind: 'none' }
  | { readonly kind: 'park'; readonly value: string }
  | { readonly kind: 'unpark'; readonly value: string }
  | { readonly kind: 'retry'; readonly value: string }
  | { readonly kind: 'rediscover'; readonly value: string }
  | { readonly kind: 'adopt'; readonly value: string }
  | { readonly kind: 'decommission'; readonly value: DecommissionOperation }
  | { readonly kind: 'recommission'; readonly value: string }
  | { readonly kind: 'unsupported'; readonly value: string }
  | { readonly kind: 'reset'; readonly value: string; readonly type: ResetType }
  /** The process that started the reset has ended; the outcome is unknown. */
  | { readonly kind: 'interrupted'; readonly value: string };

export const operationsFacts = (server: Server, memory: ObservedSystem): OperationsFacts => ({
  operation: operationFacts(server, memory),
  parked: server.metadata.annotations?.[parkedAnnotation] !== undefined,
  parkDeferralReported: memory.parkDeferredIn === (server.status?.state ?? ''),
});

/** A Map: in an object literal, a value such as `constructor` would find a member of Object.prototype. */
const resetTypes: ReadonlyMap<string, ResetType> = new Map([
  [operations.gracefulRestartServer, 'GracefulRestart'],
  [operations.hardRestartServer, 'ForceRestart'],
  [operations.powerCycleServer, 'PowerCycle'],
  [operations.forceOffServer, 'ForceOff'],
  [operations.forceOnServer, 'ForceOn'],
]);

const requests = ['park', 'unpark', 'retry', 'rediscover', 'adopt'] as const;
const isRequest = (value: string): value is (typeof requests)[number] => requests.some((known) => known === value);

/** What a Server does on request. */
export const serverOperations: readonly string[] = [
  ...requests,
  ...resetTypes.keys(),
  ...decommissionOperations,
  operations.recommission,
];

function operationFacts({ metadata }: Server, memory: ObservedSystem): OperationFacts {
  const annotations = metadata.annotations ?? {};
  const underWay = annotations[operationUnderWayAnnotation];
  if (underWay !== undefined && memory.operation === undefined) return { kind: 'interrupted', value: underWay };
  const value = annotations[operationAnnotation] ?? '';
  const type = resetTypes.get(value);
  if (type !== undefined) return { kind: 'reset', value, type };
  const decommission = decommissionOperations.find((known) => known === value);
  if (decommission !== undefined) return { kind: 'decommission', value: decommission };
  if (value === operations.recommission) return { kind: 'recommission', value };
  if (isRequest(value)) return { kind: value, value };
  return isHandledElsewhere(value) ? { kind: 'none' } : { kind: 'unsupported', value };
}

/** The reconcile loop skips objects with an ignoring operation; `deletion` reads the other one. */
const isHandledElsewhere = (value: string): boolean =>
  value === '' || value === operations.allowInProgressDelete || ignoringOperations.some((known) => known === value);
