import type { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import { readyCondition } from '../ready-condition.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import type { BmcUserFacts, BmcUserPhase } from './facts.ts';

export function reportBmcUser(user: BMCUser, facts: BmcUserFacts, outcome: Outcome<BmcUserPhase>): StatusReport {
  const verified =
    outcome.phase === 'Ready' && outcome.decision.reason === 'PasswordVerified'
      ? { reason: 'PasswordVerified', message: messageOf(facts) }
      : undefined;
  return {
    fields: { ...secretFields(user, facts), ...accountFields(facts), state: outcome.phase },
    conditions: [readyCondition(user, outcome, verified)],
  };
}

/** The effective BMCSecret stays until another password is verified. */
function secretFields(
  { status }: BMCUser,
  { secret, isEffective, login, lastRotation }: BmcUserFacts,
): Record<string, unknown> {
  const rejectedBMCSecretVersion = login === 'rejected' ? secret?.version : undefined;
  const { effectiveBMCSecretRef, effectiveBMCSecretVersion } = status ?? {};
  const effective =
    secret === undefined || !isEffective
      ? { effectiveBMCSecretRef, effectiveBMCSecretVersion }
      : { effectiveBMCSecretRef: { name: secret.name }, effectiveBMCSecretVersion: secret.version };
  return { ...effective, lastRotation, rejectedBMCSecretVersion };
}

const accountFields = ({ account }: BmcUserFacts): Record<string, unknown> => ({
  id: account.id,
  passwordExpiration: account.passwordExpiration,
});

function messageOf({ secret, rotation }: BmcUserFacts): string {
  const next =
    rotation.next === undefined ? 'it is replaced only on request' : `it is replaced after ${rotation.next.at}`;
  return `the password of BMCSecret "${secret?.name ?? ''}" works; ${next}`;
}
