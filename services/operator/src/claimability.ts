import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';

type Toleration = NonNullable<ServerClaim['spec']['tolerations']>[number];
type Taint = NonNullable<Server['spec']['taints']>[number];
type Selector = NonNullable<ServerClaim['spec']['serverSelector']>;

/** Why a server cannot be given to a claim, in a word that can be counted. Undefined when it can. */
export function refusalOf(server: Server, claim: ServerClaim): string | undefined {
  return unfitFor(server, claim) ?? notFree(server);
}

/** What the claim itself rules out; does not change while both specs stay. */
function unfitFor({ metadata, spec }: Server, { spec: wish }: ServerClaim): string | undefined {
  if (wish.serverRef !== undefined && wish.serverRef.name !== metadata.name) return 'NotTheNamedServer';
  if (wish.serverSelector !== undefined && !matches(wish.serverSelector, metadata.labels ?? {}))
    return 'LabelsDoNotMatch';
  const taint = (spec.taints ?? []).find(
    (candidate) => blocks(candidate) && !isTolerated(candidate, wish.tolerations ?? []),
  );
  return taint === undefined ? undefined : `Tainted(${taint.key})`;
}

/** What stands in the way of any claim. */
export function notFree({ metadata, spec, status }: Server): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return 'BeingDeleted';
  if (spec.serverClaimRef !== undefined) return 'ClaimedByAnother';
  if (spec.unclaimable === true) return 'Cordoned';
  if (spec.serverMaintenanceRef !== undefined) return 'InMaintenance';
  if (status?.state !== 'Available') return `State${status?.state ?? 'Initial'}`;
  if (status.powerState !== 'Off') return 'NotYetOff';
  return undefined;
}

const blocks = ({ effect }: Taint): boolean => effect === undefined || effect === 'NoBind';

function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some(({ key, operator, value, effect }) => {
    if (key !== taint.key) return false;
    if (effect !== undefined && effect !== taint.effect) return false;
    return operator === 'Exists' || (value ?? '') === (taint.value ?? '');
  });
}

/** metav1.LabelSelector; an empty selector matches everything. */
export function matches(
  { matchLabels, matchExpressions }: Selector,
  labels: Readonly<Record<string, string>>,
): boolean {
  const equal = Object.entries(matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return equal && (matchExpressions ?? []).every((expression) => holds(expression, labels));
}

function holds(
  { key, operator, values }: NonNullable<Selector['matchExpressions']>[number],
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && (values ?? []).includes(value);
    case 'NotIn':
      return value === undefined || !(values ?? []).includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      // An operator the API does not know selects nothing, rather than too much.
      return false;
  }
}
