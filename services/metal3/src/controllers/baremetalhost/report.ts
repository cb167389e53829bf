import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import { isSameJson, type StatusReport } from '@metal/kube/controller/status-diff.ts';
import { type HostCondition, hostConditions } from '../../host/host-conditions.ts';
import { newStatus } from './status-changes.ts';
import type { HostFacts, HostState } from './types.ts';

/**
 * The whole status of a host. A pass that ended with an error reports nothing: programs read an errorMessage as a host that is
 * broken, and a back end that does not answer for a moment breaks no host.
 */
export function reportHost(host: BareMetalHost, facts: HostFacts, { at, error }: Outcome<HostState>): StatusReport {
  const { conditions: present = [], lastUpdated, ...before } = host.status ?? newStatus;
  if (error !== undefined) return { fields: { ...before, lastUpdated }, conditions: present.map(untimed) };
  const { conditions: _, lastUpdated: __, ...fields } = facts.status;
  const conditions = hostConditions({
    state: facts.state,
    operationalStatus: facts.operationalStatus,
    ...facts.node,
    hasHealthy: present.some(({ type }) => type === 'Healthy'),
  }).map((condition) => detailed(condition, host, facts));
  const kept = present.map(untimed).filter(({ type }) => !conditions.some((condition) => condition.type === type));
  const all = [...conditions, ...kept];
  const isSame = isSameJson(before, fields) && hasAll(present.map(untimed), all);
  return { fields: { ...fields, lastUpdated: isSame ? lastUpdated : at }, conditions: all };
}

const maxMessage = 160;

type Reported = StatusReport['conditions'][number];

type Stored = NonNullable<NonNullable<BareMetalHost['status']>['conditions']>[number];

function untimed(condition: Stored): Reported {
  const { lastTransitionTime: _, ...rest } = condition;
  return rest;
}

const hasAll = (present: readonly Reported[], wanted: readonly Reported[]): boolean =>
  wanted.every((condition) => present.some((known) => isSameJson(known, condition)));

function detailed(condition: HostCondition, { metadata }: BareMetalHost, facts: HostFacts): Reported {
  return {
    ...condition,
    message: messageOf(condition, facts).slice(0, maxMessage),
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
  };
}

/** Of a failure, whose whole text is in status.errorMessage, or of the step that waits. */
function messageOf({ type, reason }: HostCondition, { status, outcomes }: HostFacts): string {
  if (reason === 'Error' || reason === 'RegistrationFailed') return status.errorMessage;
  if (type !== 'Progressing') return '';
  const waiting = Object.values(outcomes).find(({ kind }) => kind === 'busy');
  return waiting !== undefined && 'message' in waiting ? (waiting.message ?? '') : '';
}
