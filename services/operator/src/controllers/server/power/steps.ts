import { act, go, wait } from '@metal/kube/controller/decide.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { driftMs } from '../../../bmc-connections/observed-state.ts';
import { blocker } from '../bmc/steps.ts';
import type { ServerReason } from '../reasons.ts';
import type { ServerAction, ServerFacts, Step } from '../types.ts';
import { freshForMs } from './facts.ts';

type PowerTarget = 'On' | 'Off';
type Transition = NonNullable<ServerFacts['transition']>;

export interface PowerGoal {
  readonly target: PowerTarget;
  readonly reason: ServerReason;
  /** How a machine is started; used only when the target is On. */
  readonly start?: 'networkBoot' | 'diskBoot';
  /**
   * Needed where the next step cannot be undone. fresh: the state was observed within the last ten seconds. stable: in
   * addition, a state that this process found at its first observation must have lasted for some time, as an earlier
   * process may have requested a change.
   */
  readonly confirmation?: 'fresh' | 'stable';
  /** An operating system that ignores the shutdown may be forced off. */
  readonly mayForce?: boolean;
}

/**
 * The next step towards a power state, or undefined when the machine was observed in it. Starts a change, polls with
 * growing pauses, forces a machine off that ignores the shutdown, repeats a power-on that did not happen, and gives up
 * after some attempts.
 */
export function ensurePower(server: ServerFacts, goal: PowerGoal): Step<'Error'> | undefined {
  const changing = server.transition?.target === goal.target ? server.transition : undefined;
  if (changing === undefined) return startTransition(server, goal);
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

function startTransition(server: ServerFacts, goal: PowerGoal): Step<'Error'> | undefined {
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

function awaitConfirmation(
  { powerCause, powerForMs, powerSeenMsAgo }: ServerFacts,
  { target, confirmation }: PowerGoal,
): Step | undefined {
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
 * The opposite was requested before and is not observed yet: the machine may leave the desired state at any moment. The
 * change is reversed when it is observed, or by force after the power timeout, so that no late power-on surprises the
 * next claim.
 */
function awaitOppositeTransition(
  server: ServerFacts,
  goal: PowerGoal,
  { sinceRequestMs, since, target: opposite }: Transition,
): Step {
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

/** Unless the goal decides it, only the machine of a claim is not forced off. */
const mayForce = ({ claim, enforcePowerOff }: ServerFacts, goal: PowerGoal): boolean =>
  goal.mayForce ?? (claim.binding !== 'bound' || enforcePowerOff);

function escalationOf(server: ServerFacts, goal: PowerGoal): string {
  if (goal.target === 'On') return 'asked for again';
  return mayForce(server, goal) ? 'forced off' : 'reported';
}

function escalate(server: ServerFacts, changing: Transition, goal: PowerGoal): Step<'Error'> {
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

/** In Error, a machine without a claim is powered off. The machine of a claim, or one in an unknown state, is not touched. */
export function ensureFailedOff(server: ServerFacts): Step | undefined {
  const { bmc, claim, failure, transition, maxPowerAttempts } = server;
  if (!bmc.isReachable || claim.binding === 'bound' || failure?.reason === 'UnknownState') return undefined;
  if (transition !== undefined && transition.attempts >= maxPowerAttempts) return undefined;
  const step = blocker(server) ?? ensurePower(server, { target: 'Off', reason: 'FailedServersStayOff' });
  return step?.kind === 'go' ? undefined : step;
}
