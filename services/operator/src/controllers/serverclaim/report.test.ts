import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { rest } from '@metal/kube/controller/decide.ts';
import type { ClaimFacts } from './facts.ts';
import { reportClaim } from './report.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const noon = '2026-01-01T12:00:00Z';
const claim: ServerClaim = {
  apiVersion,
  kind: 'ServerClaim',
  metadata: { name: 'db', namespace: 'team' },
  spec: { power: 'On', image: 'os' },
};
const boundServer: Server = { apiVersion, kind: 'Server', metadata: { name: 's' }, spec: { systemUUID: 'a' } };

/** The condition Ready of a claim whose machine is as it asks. */
function readyWith(maintenance: ClaimFacts['maintenance']) {
  // The members that the report of such a claim reads.
  const facts = { boundServer, boot: 'present', maintenance } as ClaimFacts;
  const { conditions } = reportClaim(claim, facts, { phase: 'Bound', phaseSince: noon, at: noon, decision: rest });
  const { status, reason, message } = conditions.find(({ type }) => type === 'Ready') ?? assert.fail();
  return `${status} ${reason}: ${message}`;
}

test('a claim that is served stays Ready while its owner is asked for an approval, and Ready has the request', () => {
  const request = 'ServerMaintenance ops/fan waits for approval: kubectl label serverclaim';
  assert.equal(
    readyWith({ reason: 'WaitingForApproval', message: 'with its purpose and time', request }),
    `True WaitingForApproval: ${request}`,
  );
});

test('a claim that is served has reason Bound, also while a maintenance that it approved waits', () => {
  const expected = 'True Bound: server s is held by this claim and is as the claim asks';
  assert.equal(readyWith(undefined), expected);
  assert.equal(readyWith({ reason: 'MaintenanceQueued', message: 'its turn comes' }), expected);
});
