import { Server } from '@metal/api/v1alpha1/server.ts';
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

/** Fails with a conflict if the object has changed since it was read. */
export const guard = ({ metadata: { resourceVersion } }: { metadata: { resourceVersion?: string | undefined } }) =>
  resourceVersion === undefined ? {} : { resourceVersion };

/** The precondition of a deletion: that of this object, not of one created since under its name. */
export const uidOf = ({ metadata: { uid } }: { metadata: { uid?: string | undefined } }) =>
  uid === undefined ? {} : { uid };

export async function writeServer(
  { client }: NativePass,
  server: Server,
  patch: object,
  message?: string,
): Promise<StepResult> {
  await client.mergePatch(Server, { name: server.metadata.name }, patch, guard(server));
  return written(message);
}
