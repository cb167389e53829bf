import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { namedMaintenances } from '@metal/api/wire/named-maintenances.ts';
import { byAge, keyOf } from '@metal/kube/kinds/kind.ts';
import type { OperatorCaches } from '../caches.ts';
import { conditionsOf } from '../controllers/ready-condition.ts';
import type { Attempt, Target, UpdateObject, WindowFacts } from './types.ts';

/** A maintenance that is deleted while the update flashes keeps the server until that ends. */
export function windowOf(
  object: UpdateObject,
  { servers }: Target,
  caches: OperatorCaches,
  { sendTime }: Pick<Attempt, 'sendTime'>,
  powerOf: (maintenance: ServerMaintenance) => string | undefined = ({ spec }) => spec.serverPower,
): WindowFacts {
  const created = caches.maintenances.by('owner', object.metadata.uid ?? '').toSorted(byAge);
  const own = created.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const given = namedMaintenances(object).flatMap((ref) => caches.maintenances.get(ref) ?? []);
  const all = [...given, ...created.filter((one) => !given.includes(one))];
  const maintenances =
    sendTime === undefined ? all.filter(({ metadata }) => metadata.deletionTimestamp === undefined) : all;
  const held = servers.filter((server) => maintenances.some((one) => isHeldBy(server, one)));
  // One that is being deleted has to end first: the next one has its name.
  const present = [...maintenances, ...created];
  const missing = servers.filter(({ metadata }) => !present.some(({ spec }) => spec.serverRef.name === metadata.name));
  const waiting = servers.find((server) => !held.includes(server));
  const powers = new Set(maintenances.map(powerOf));
  return {
    state: stateOf(maintenances.length, servers.length, held.length),
    maintenances,
    own,
    missing,
    held,
    explanation: waiting === undefined ? '' : explanationOf(waiting, maintenances),
    isEnding: maintenances.some(({ metadata }) => metadata.deletionTimestamp !== undefined),
    power: powers.size === 1 ? [...powers][0] : undefined,
  };
}

/** Without servers nothing is granted: the machines behind the BMC are not known. */
function stateOf(maintenances: number, servers: number, held: number): WindowFacts['state'] {
  if (servers > 0 && held === servers) return 'granted';
  return maintenances === 0 ? 'none' : 'requested';
}

/** The server is in maintenance, and for this ServerMaintenance. */
export function isHeldBy({ spec, status }: Server, maintenance: ServerMaintenance): boolean {
  const ref = spec.serverMaintenanceRef;
  return status?.state === 'Maintenance' && ref !== undefined && keyOf(ref) === keyOf(maintenance);
}

function explanationOf(server: Server, maintenances: readonly ServerMaintenance[]): string {
  const { name } = server.metadata;
  const own = maintenances.find(({ spec }) => spec.serverRef.name === name);
  if (own === undefined) return `Server ${name} gets a ServerMaintenance`;
  const ready = conditionsOf(own).find(({ type }) => type === 'Ready');
  const claim = server.spec.serverClaimRef;
  if (ready?.reason === 'WaitingForApproval' && claim !== undefined)
    return `the owner of ServerClaim ${claim.namespace}/${claim.name} has not approved the maintenance of Server ${name}`;
  const why = ready?.status === 'False' ? ` (${ready.reason})` : '';
  return `ServerMaintenance ${keyOf(own)} waits for Server ${name}${why}`;
}
