import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { OperatorContext } from '../context.ts';
import { isAdmitted, isQueued } from '../../cleanup/cleanup-queue.ts';
import { type QueueFacts, queueFacts } from '../../cleanup/queue-position.ts';

export type AdmissionPhase = 'Watched';
export type AdmissionAction = 'admit';

export interface AdmissionFacts {
  /** Undefined for a server that does not wait for admission. */
  readonly queue: QueueFacts | undefined;
}

export function readAdmissionFacts(server: Server, context: OperatorContext, { now }: { now: number }): AdmissionFacts {
  const waits = isQueued(server) && !isAdmitted(server) && server.metadata.deletionTimestamp === undefined;
  return { queue: waits ? queueFacts(server, context, now) : undefined };
}
