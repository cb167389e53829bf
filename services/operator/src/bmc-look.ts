import type { Clock } from '@metal/kube/clock.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import { findManager } from '@metal/redfish/managers.ts';
import { readSystems } from '@metal/redfish/systems.ts';
import type { BmcAccess } from './bmc-access.ts';
import type { Connection } from './connection.ts';
import type { BmcObservation } from './observations.ts';

export interface LookOptions {
  /** Where it stands what the manager is: its UUID. */
  readonly managerUuid?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Looks at a BMC and remembers what was found, or that it failed. Undefined when it did: a BMC that does not answer is an
 * expected outcome, and the next judgement speaks of it. Rejects with the reason of the signal.
 */
export async function lookAtBmc(
  { access, clock }: { readonly access: BmcAccess; readonly clock: Clock },
  name: string,
  connection: Connection,
  { managerUuid, signal }: LookOptions = {},
): Promise<BmcObservation | undefined> {
  access.memory(name, connection).triedAt = clock.now();
  const at = clock.now();
  try {
    const bmc = access.line(name, connection);
    const [manager, systems] = await Promise.all([
      findManager(bmc, managerUuid, { signal }),
      readSystems(bmc, { signal }),
    ]);
    const observation = { at, manager, systems };
    access.saw(name, connection, observation);
    return observation;
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    // What we ended ourselves says nothing of the BMC, which may have come back under its name.
    if (error.code !== 'Closed') access.failed(name, connection, error);
    return undefined;
  }
}
