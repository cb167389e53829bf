import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { SystemSummary } from '@metal/redfish/resources/systems.ts';
import { conditionsOf } from '../controllers/ready-condition.ts';

/** Machines behind a BMC that have no Server of it: no maintenance stops them while the BMC changes. URIs. */
export interface UnservedSystems {
  /** Their Servers are created next. */
  readonly expected: readonly string[];
  /** Nobody manages them here: see condition SystemsAccepted of the BMC. */
  readonly unmanaged: readonly string[];
}

interface Observed {
  readonly systems: readonly SystemSummary[];
  /** Those of the BMC. */
  readonly servers: readonly Server[];
  readonly hasServer: (lowerCaseUuid: string) => boolean;
}

/** Compares what the BMC reports with its Servers. The BMC controller says in its condition if it creates no Server for one. */
export function unservedSystems(bmc: BMC, { systems, servers, hasServer }: Observed): UnservedSystems {
  const reported = new Set(systems.flatMap(({ uuid, alternativeUuid }) => [uuid, alternativeUuid]));
  const uuidOf = ({ spec }: Server): string => spec.systemUUID.toLowerCase();
  const uuids = new Set(servers.map(uuidOf));
  // A machine that reports another UUID for a while is that of the Server at its URI.
  const uris = new Set(servers.filter((server) => !reported.has(uuidOf(server))).map(({ spec }) => spec.systemURI));
  const unserved = systems.filter(
    ({ uri, uuid = '', alternativeUuid = '', noMachineBecause }) =>
      noMachineBecause === undefined && !uris.has(uri) && !uuids.has(uuid) && !uuids.has(alternativeUuid),
  );
  const isRejected = conditionsOf(bmc).some(({ type, status }) => type === 'SystemsAccepted' && status === 'False');
  const isExpected = ({ uuid }: SystemSummary): boolean => !isRejected && uuid !== undefined && !hasServer(uuid);
  const urisOf = (some: readonly SystemSummary[]): string[] => some.map(({ uri }) => uri);
  return {
    expected: urisOf(unserved.filter(isExpected)),
    unmanaged: urisOf(unserved.filter((system) => !isExpected(system))),
  };
}

const mostNamed = 3;

/** A BMC decides itself how many systems it reports. */
export function firstOf(uris: readonly string[]): string {
  const more = uris.length > mostNamed ? ` and ${uris.length - mostNamed} more` : '';
  return `${uris.slice(0, mostNamed).join(', ')}${more}`;
}
