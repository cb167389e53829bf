import type { Server } from '../v1alpha1/server.ts';
import { decommissionAnnotation, decommissionedAnnotation, operationAnnotation, operations } from './contract.ts';

type Marked = Pick<Server, 'metadata'>;

/** The operations that have a server leave the fleet. */
export const decommissionOperations = [operations.decommission, operations.forceDecommission] as const;
export type DecommissionOperation = (typeof decommissionOperations)[number];

/** An accepted request to leave the fleet. */
export interface Decommission {
  readonly operation: DecommissionOperation;
  /** RFC 3339. */
  readonly since: string;
}

const isOperation = (text: string): text is DecommissionOperation => decommissionOperations.some((one) => one === text);

/** The accepted request; undefined without one. An unknown operation of another version counts as the one without force. */
export function decommissionOf({ metadata }: Marked): Decommission | undefined {
  const value = metadata.annotations?.[decommissionAnnotation];
  if (value === undefined) return undefined;
  const [operation = '', since = ''] = value.split(' ');
  return { operation: isOperation(operation) ? operation : operations.decommission, since };
}

/** The server is off for good: nothing is sent to it, and no claim, set or maintenance gets it. */
export const isDecommissioned = ({ metadata }: Marked): boolean =>
  metadata.annotations?.[decommissionedAnnotation] !== undefined;

/** The server leaves the fleet, has left it, or is asked to and the request is not accepted yet. No new claim gets it. */
export const isLeavingFleet = (server: Marked): boolean =>
  isDecommissioned(server) ||
  decommissionOf(server) !== undefined ||
  isOperation(server.metadata.annotations?.[operationAnnotation] ?? '');
