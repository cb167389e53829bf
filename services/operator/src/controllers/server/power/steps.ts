import { seconds } from '@metal/kube/runtime/durations.ts';
import { act, type Decision, go, wait } from '@metal/kube/controller/decide.ts';
import { driftMs } from '../../../bmc-connections/observed-state.ts';
import type { ServerAction, ServerFacts, Step } from '../types.ts';
import { freshForMs } from './facts.ts';
import { blocker } from '../bmc/steps.ts';
import type { ServerReason } from '../reasons.ts';

export type PowerDecision = Decision<'Error', ServerAction, ServerReason>;
type PowerTarget = 'On' | 'Off';

export interface PowerGoal {
  readonly target: PowerTarget;
  readonly reason: ServerReason;
  /** How a machine is started; only asked when the target is On. */
  readonly start?: 'networkBoot' | 'diskBoot';
  /**
   * What follows cannot be taken back, so the machine must have been seen in this state just now (young), or also for
   * some time if it was so at the first look of this process: an earlier process may have asked for a change (sure).
   */
  readonly confirmation?: 'fresh' | 'stable';
  /** An operating system that ignores the shutdown may be forced off. */
  readonly mayForce?: boolean;
}

/**
 * The next step towards a power state, or undefined when the machine has been seen in it. Starts a change, looks with
 * growing pauses, escalates a shutdown that is ignored to a forced one, asks again for a start that did not happen, and
 * gives up after some tries.
 */
export function ensurePower(server: ServerFacts, goal: PowerGoal): PowerDecision | undefined {
  const changing = server.transition?.target === goal.target ? server.transition : undefined;
  if (changing === undefined) return startFromHere(server, goal);
  if (server.nextPollInMs <= 0) return act('observe', 'PowerNotYetConfirmed');
  if (changing.sinceRequestMs >= server.powerTimeoutMs) return escalate(server, changing, goal);
  const requested = `asked at ${changing.since}${changing.forced ? ', by force' : ''}; the BMC reports ${server.power}`;
  const next = `; ${escalationOf(server, goal)} after ${Math.round(server.powerTimeoutMs / 1_000)} s`;
  return wait(
    server.nextPollInMs,
    goal.target === 'Off' ? 'WaitingForPowerOff' : 'WaitingForPowerOn',
    `${requested}${next}`,
  );
}

function startFromHere(server: ServerFacts, goal: PowerGoal): PowerDecision | undefined {
  const { target, reason } = goal;
  if (server.power === target)
    return server.transition === undefined
      ? awaitConfirmation(server, goal)
      : awaitOppositeTransition(server, goal, server.transition);
  if (server.powerCause === 'unrequested' && server.powerForMs < driftMs)
    return wait(
      driftMs - server.powerForMs,
      'PowerDrifted',
      `the machine went ${server.power} by itself; power ${target} is asked for if that lasts ${driftMs / 1_000} s`,
    );
  if ((server.powerSeenMsAgo ?? Infinity) >= freshForMs) return act('observe', 'LookBeforeChange');
  if (server.power === `Powering${target}`)
    return wait(seconds(1), `WaitingForPower${target}`, `the BMC reports ${server.power}`);
  return act(actionOf(goal), reason);
}

function awaitConfirmation({ powerCause, powerForMs, powerSeenMsAgo }: ServerFacts, goal: PowerGoal) {
  const { target, confirmation } = goal;
  if (confirmation === undefined) return undefined;
  if (confirmation === 'stable' && powerCause === 'unknown' && powerForMs < driftMs)
    return wait(
      driftMs - powerForMs,
      'PowerNotYetConfirmed',
      `power ${target} at the first look; it counts when it lasts ${driftMs / 1_000} s, as a change may be under way`,
    );
  return (powerSeenMsAgo ?? Infinity) >= freshForMs ? act('observe', 'LookBeforeChange') : undefined;
}

/**
 * The opposite was asked for and has not shown yet: the machine is about to leave the wanted state. It is taken back
 * when it arrives, or by force when it never does, so that no late power-on surprises the next owner.
 */
function awaitOppositeTransition(
  server: ServerFacts,
  goal: PowerGoal,
  { sinceRequestMs, since, target: opposite }: NonNullable<ServerFacts['transition']>,
): PowerDecision {
  if (server.nextPollInMs <= 0) return act('observe', 'PowerNotYetConfirmed');
  if (sinceRequestMs >= server.powerTimeoutMs)
    return act(goal.target === 'Off' ? 'forceOff' : actionOf(goal), 'PowerChangeNeverShowed');
  return wait(
    server.nextPollInMs,
    'PowerChangeUnderWay',
    `power ${opposite} was asked for at ${since} and has not shown yet; it is taken back as soon as it does`,
  );
}

const actionOf = ({ target, start = 'diskBoot' }: PowerGoal): ServerAction => (target === 'Off' ? 'powerOff' : start);

const mayForce = ({ claim, enforcePowerOff }: ServerFacts, goal: PowerGoal): boolean =>
  goal.mayForce ?? (claim.binding !== 'bound' || enforcePowerOff);

function escalationOf(server: ServerFacts, goal: PowerGoal): string {
  if (goal.target === 'On') return 'asked for again';
  return mayForce(server, goal) ? 'forced off' : 'reported';
}

function escalate(
  server: ServerFacts,
  changing: NonNullable<ServerFacts['transition']>,
  goal: PowerGoal,
): PowerDecision {
  if (goal.target === 'Off' && !mayForce(server, goal)) {
    return wait(
      seconds(30),
      'ShutdownIgnored',
      `the operating system ignores the shutdown that was asked for at ${changing.since}; --enforce-power-off would force it. The BMC reports ${server.power}`,
    );
  }
  if (changing.attempts >= server.maxPowerAttempts && server.failure !== undefined)
    return go('Error', server.failure.reason, server.failure.message);
  if (goal.target === 'On')
    return act(
      actionOf(goal),
      'PowerOnRepeated',
      `asked for ${goal.reason}, but the BMC still reports ${server.power}`,
    );
  return act(
    'forceOff',
    changing.forced ? 'ForcedPowerOffRepeated' : 'ShutdownIgnored',
    `the BMC still reports ${server.power}`,
  );
}

/** Nobody's machine does not run on after it failed; a tenant's machine and an unknown state are not touched. */
export function switchFailedOff(server: ServerFacts): Step | undefined {
  const { bmc, claim, failure, transition, maxPowerAttempts } = server;
  if (!bmc.isReachable || claim.binding === 'bound' || failure?.reason === 'UnknownState') return undefined;
  if (transition !== undefined && transition.attempts >= maxPowerAttempts) return undefined;
  const step = blocker(server) ?? ensurePower(server, { target: 'Off', reason: 'FailedServersStayOff' });
  return step?.kind === 'go' ? undefined : step;
}
