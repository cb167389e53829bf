import type { Clock } from '@metal/kube/runtime/clock.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import type { Bmc, CallOptions } from '@metal/redfish/http/bmc.ts';
import { verifyLogin } from '@metal/redfish/resources/login.ts';
import { findManager } from '@metal/redfish/resources/managers.ts';
import type { OnUnreadable } from '@metal/redfish/resources/members.ts';
import { type MissingPart, missingMember } from '@metal/redfish/resources/part-reader.ts';
import { byUri, readSystems } from '@metal/redfish/resources/systems.ts';
import type { BmcConnectionPool } from './connection-pool.ts';
import type { BmcObservation } from './observed-bmc.ts';
import type { Connection } from './connection.ts';

export interface RefreshOptions {
  /** UUID of the manager, if it is recorded. */
  readonly managerUuid?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** `part` of an unreadable system. */
export const systemsPart = 'systems';

/** Members that cannot be read now keep their last known values, unless the system is found at another URI. */
function withLastKnown(now: BmcObservation, before: BmcObservation | undefined): BmcObservation {
  const missing = (now.missing ?? []).toSorted((a, b) => byUri(a.path, b.path));
  const isMissing = (uri: string): boolean => missing.some(({ path }) => path === uri);
  const seen = new Set(now.systems.map(({ uuid }) => uuid));
  const kept = before?.systems.filter(({ uri, uuid }) => isMissing(uri) && !seen.has(uuid)) ?? [];
  const lost = before?.manager !== undefined && isMissing(before.manager.uri) ? before.manager : undefined;
  const systems = [...now.systems, ...kept].toSorted((a, b) => byUri(a.uri, b.uri));
  return { at: now.at, manager: now.manager ?? lost, systems, missing };
}

/** Where neither managers nor systems are read, one other request shows that the login works. */
async function verifyUnread(bmc: Bmc, options: CallOptions): Promise<void> {
  const { Managers, Systems } = await bmc.root(options);
  if (Managers === undefined && Systems === undefined) await verifyLogin(bmc, options);
}

/**
 * Observes a BMC and records the result or the failure. Undefined for a failure: a BMC that does not answer is an expected outcome
 * that the next decision handles. Rejects with the reason of the signal.
 */
export async function refreshBmc(
  { bmcConnections, clock }: { readonly bmcConnections: BmcConnectionPool; readonly clock: Clock },
  name: string,
  connection: Connection,
  { managerUuid, signal }: RefreshOptions = {},
): Promise<BmcObservation | undefined> {
  const observed = bmcConnections.observedBmc(name, connection);
  observed.triedAt = clock.now();
  const at = clock.now();
  try {
    const bmc = bmcConnections.getBmc(name, connection);
    const missing: MissingPart[] = [];
    const collectMissing =
      (part: string): OnUnreadable =>
      (unreadable) =>
        missing.push(missingMember(part, unreadable));
    const [manager, systems] = await Promise.all([
      findManager(bmc, managerUuid, { signal, onUnreadable: collectMissing('managers') }),
      readSystems(bmc, { signal, onUnreadable: collectMissing(systemsPart) }),
      verifyUnread(bmc, { signal }),
    ]);
    const observation = withLastKnown({ at, manager, systems, missing }, observed.observation);
    bmcConnections.recordObservation(name, connection, observation);
    return observation;
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    // A connection that this process closed is no failure of the BMC, whose object may exist again.
    if (error.code !== 'Closed') bmcConnections.recordFailure(name, connection, error);
    return undefined;
  }
}
