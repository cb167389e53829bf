import { minutes } from '@metal/kube/runtime/durations.ts';
import { act, type Decision, go, type PhaseTable, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import { retryLoginHint } from '../../../bmc-connections/rejected-login.ts';
import type { BmcAction, BmcFacts, BmcPhase } from './facts.ts';
import type { BmcReason } from './reasons.ts';

const row = rowsOf<BmcPhase, BmcFacts, BmcAction, BmcReason>();
type BmcDecision<To extends BmcPhase = never> = Decision<To, BmcAction, BmcReason>;

const resyncMs = minutes(60);
const warning = { type: 'Warning' } as const;

/** A BMC is Enabled while its management controller responds. Error means that only an administrator can fix it. */
export const bmcTable: PhaseTable<BmcPhase, BmcFacts, BmcAction, BmcReason> = {
  Pending: row(['Enabled', 'Error', 'Decommissioned', 'ResetRequested'], (bmc) => {
    const requested = operationFirst(bmc);
    if (requested !== undefined) return requested;
    if (bmc.blocker !== undefined) return go('Error', bmc.blocker.reason, bmc.blocker.message);
    if (bmc.failure?.needsHuman) return go('Error', bmc.failure.reason, bmc.failure.message);
    if (bmc.failure !== undefined && bmc.failure.retryInMs > 0)
      return wait(soonest(bmc.failure.retryInMs, bmc.reset.automaticInMs), bmc.failure.reason, bmc.failure.message);
    if (bmc.failure !== undefined || bmc.observation === undefined) return act('observe', 'NotYetSeen');
    if (!bmc.managerRecorded) return act('recordManager', 'ManagerFound');
    return go('Enabled', 'Connected', undefined, bmc.isNew ? 'none' : undefined);
  }),
  Enabled: row(['Pending', 'Error', 'Decommissioned', 'ResetRequested'], (bmc) => {
    const requested = operationFirst(bmc);
    if (requested !== undefined) return requested;
    if (bmc.blocker !== undefined) return go('Error', bmc.blocker.reason, bmc.blocker.message);
    if (bmc.failure?.needsHuman) return go('Error', bmc.failure.reason, bmc.failure.message);
    if (bmc.failure !== undefined) return go('Pending', bmc.failure.reason, bmc.failure.message, warning);
    if (bmc.nextPollInMs <= 0) return act('observe', 'PeriodicLook');
    return keepServers(bmc);
  }),
  Error: row(['Pending', 'Decommissioned', 'ResetRequested'], (bmc) => {
    const requested = operationFirst(bmc);
    if (requested !== undefined) return requested;
    if (bmc.blocker !== undefined) return wait(resyncMs, bmc.blocker.reason, bmc.blocker.message);
    if (bmc.failure?.needsHuman) return awaitHuman(bmc.failure);
    return go('Pending', 'ConfigurationChanged');
  }),
  Decommissioned: row(['Pending'], ({ isDecommissioned, operation }) => {
    if (!isDecommissioned) return go('Pending', 'BMCRecommissioned');
    if (operation !== undefined) return act('dropOperation', 'BMCDecommissioned');
    return wait(resyncMs, 'BMCDecommissioned', 'its servers are decommissioned, and nothing is sent to it');
  }),
  ResetRequested: row(['Resetting', 'Pending'], ({ operation, reset }) => {
    if (operation?.kind === 'unsupported') return act('dropOperation', 'UnsupportedOperation');
    if (operation !== undefined) return act('acceptReset', reset.wanted?.why ?? 'UserRequested');
    // The reconcile ends here: the request is written to the status before it is sent.
    if (reset.wanted !== undefined) return wait(1, reset.wanted.why);
    return reset.pending === undefined ? go('Pending', 'ResetNotNeeded') : go('Resetting', 'ResetRecorded');
  }),
  Resetting: row(['Pending', 'ResetRequested'], (bmc) => {
    const { operation, reset } = bmc;
    if (operation?.kind === 'unsupported') return act('dropOperation', 'UnsupportedOperation');
    if (operation !== undefined && isUnderWay(reset)) return act('dropOperation', 'ResetAlreadyRunning');
    if (reset.wanted !== undefined) return go('ResetRequested', reset.wanted.why);
    if (reset.pending !== undefined) return act('sendReset', 'ResetRecorded');
    if (reset.outcome?.kind === 'failed') return go('Pending', reset.outcome.reason, reset.outcome.message, warning);
    return awaitReturn(bmc);
  }),
};

function awaitHuman({ mayRepeat, retryInMs, reason, message }: NonNullable<BmcFacts['failure']>): BmcDecision {
  if (!mayRepeat) return wait(resyncMs, reason, `${message}; ${retryLoginHint}`);
  return retryInMs > 0 ? wait(retryInMs, reason, message) : act('observe', 'PeriodicLook');
}

/** A BMC that is restarting is not restarted. */
const isUnderWay = ({ quietForMs, outcome }: BmcFacts['reset']): boolean =>
  quietForMs > 0 && (outcome === undefined || outcome.kind === 'sent');

/** A requested operation comes first, even while the BMC fails: a restart may help. Then the trust in a BMC that is new. */
function operationFirst({
  isDecommissioned,
  operation,
  reset,
  certificateToRecord,
}: BmcFacts): BmcDecision<'Decommissioned' | 'ResetRequested'> | undefined {
  if (isDecommissioned) return go('Decommissioned', 'BMCDecommissioned', undefined, 'none');
  if (operation?.kind === 'unsupported') return act('dropOperation', 'UnsupportedOperation');
  if (reset.wanted !== undefined) return go('ResetRequested', reset.wanted.why);
  return certificateToRecord === undefined ? undefined : act('recordCertificate', 'CertificateTrusted');
}

function awaitReturn({ reset, failure, blocker }: BmcFacts): BmcDecision<'Pending'> {
  if (reset.quietForMs > 0) return wait(reset.quietForMs, 'WaitingForReset', resetMessage(reset.record?.sentAt));
  if (blocker !== undefined) return wait(resyncMs, blocker.reason, blocker.message);
  if (reset.hasResponded) return go('Pending', 'ResetComplete', 'BMC reset is complete');
  if (reset.nextTryInMs <= 0) return act('observe', 'WaitingForReset');
  const lastSeen = failure === undefined ? '' : `; last seen: ${failure.reason}`;
  return wait(
    soonest(reset.nextTryInMs, reset.automaticInMs),
    'WaitingForReset',
    `${resetMessage(reset.record?.sentAt)}${lastSeen}`,
  );
}

const resetMessage = (sentAt: string | undefined): string =>
  `the BMC was told at ${sentAt ?? ''} to restart and has not answered since`;

function keepServers(bmc: BmcFacts): BmcDecision {
  if (!bmc.managerRecorded) return act('recordManager', 'ManagerFound');
  if (bmc.systems.create.length > 0) return act('createServers', 'SystemFound');
  if (bmc.systems.update.length > 0) return act('updateServers', 'SystemMovedOrLabelled');
  if (bmc.rejection?.isReported === false)
    return act('recordRejectionEvent', bmc.rejection.reason, bmc.rejection.message);
  if (bmc.healthChange !== undefined)
    return act('recordHealthEvent', bmc.healthChange.reason, bmc.healthChange.message);
  return wait(bmc.nextPollInMs, 'Connected', 'BMC is connected');
}

const soonest = (ms: number, other: number | undefined): number => (other === undefined ? ms : Math.min(ms, other));
