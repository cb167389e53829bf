import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { ParsedBmcAddress } from '../bmc/parse-bmc-address.ts';
import type { HostAccess } from '../provisioner/back-end.ts';
import { busy, type StepResult } from '../provisioner/step-result.ts';
import { findHostObjects, type HostObjects, type NativeCaches } from './host-objects.ts';

/** One host in one pass of its controller. Each call reads the caches anew. */
export interface NativePass {
  readonly access: HostAccess;
  readonly client: KubeClient;
  readonly caches: NativeCaches;
  readonly parsed: ParsedBmcAddress;
  /** Erasure of Servers without a policy of their own: --cleanup-disks. */
  readonly fleetDisks: string;
  readonly clock: Clock;
}

export const objectsOf = ({ access: { host }, parsed, caches }: NativePass): HostObjects =>
  findHostObjects(host, 'address' in parsed ? parsed.address : undefined, caches);

/** Watches wake the host earlier. */
const untilChangeMs = 60_000;
export const waiting = (message?: string): StepResult => busy(untilChangeMs, message);
/** A write that the caches do not have yet. */
export const written = (message?: string): StepResult => busy(1_000, message);
