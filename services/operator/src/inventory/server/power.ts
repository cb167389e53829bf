import { act, type Decision, go, seconds, wait } from '@metal/kube/decide.ts';
import { driftMs } from '../../observations.ts';
import type { ServerAction, ServerFacts } from './facts.ts';
import type { ServerReason } from './reasons.ts';

export type PowerDecision = Decision<'Error', ServerAction, ServerReason>;
type PowerTarget = 'On' | 'Off';

export interface PowerWish {
  readonly target: PowerTarget;
  readonly reason: ServerReason;
  /** How a machine is started; only asked when the target is On. */
  readonly start?: 'networkBoot' | 'diskBoot';
  /**
   * What follows cannot be taken back, so the machine must have been seen in this state just now (young), or also for
   * some time if it was so at the first look of this process: an earlier process may have asked for a change (sure).
   */
  readonly evidence?: 'young' | 'sure';
  /** An operating system that ignores the shutdown may be forced off. */
  readonly mayForce?: boolean;
}

/** Power is never changed on what was true at the last resync: the look before the deed is this young. */
export const freshForMs = seconds(10);

/** Why nothing can be done at the machine at all, or that it has to be looked at first. */
export function obstacle({ bmc, powerSeenMsAgo }: ServerFacts): PowerDecision | undefined {
  if (!bmc.answers) return wait(seconds(600), bmc.reason, bmc.message);
  return powerSeenMsAgo === undefined ? act('observe', 'NotYetSeen') : undefined;
}

/**
 * The next step towards a power state, or undefined when the machine has been seen in it. Starts a change, looks with
 * growing pauses, escalates a shutdown that is ignored to a forced one, asks again for a start that did not happen, and
 * gives up after some tries.
 */
export function whenPowerIs(server: ServerFacts, wish: PowerWish): PowerDecision | undefined {
  const changing = server.transition?.target === wish.target ? server.transition : undefined;
  if (changing === undefined) return startFromHere(server, wish);
  if (server.nextLookInMs <= 0) return act('observe', 'PowerNotYetConfirmed');
  if (changing.sinceRequestMs >= server.powerTimeoutMs) return escalate(server, changing, wish);
  const asked = `asked at ${changing.since}${changing.forced ? ', by force' : ''}; the BMC reports ${server.power}`;
  const next = `; ${escalationOf(server, wish)} after ${Math.round(server.powerTimeoutMs / 1_000)} s`;
  return wait(
    server.nextLookInMs,
    wish.target === 'Off' ? 'WaitingForPowerOff' : 'WaitingForPowerOn',
    `${asked}${next}`,
  );
}

function startFromHere(server: ServerFacts, wish: PowerWish): PowerDecision | undefined {
  const { target, reason } = wish;
  if (server.power === target)
    return server.transition === undefined
      ? provenEnough(server, wish)
      : outwaitOpposite(server, wish, server.transition);
  if (server.powerCause === 'unasked' && server.powerForMs < driftMs)
    return wait(
      driftMs - server.powerForMs,
      'PowerDrifted',
      `the machine went ${server.power} by itself; power ${target} is asked for if that lasts ${driftMs / 1_000} s`,
    );
  if ((server.powerSeenMsAgo ?? Infinity) >= freshForMs) return act('observe', 'LookBeforeChange');
  if (server.power === `Powering${target}`)
    return wait(seconds(1), `WaitingForPower${target}`, `the BMC reports ${server.power}`);
  return act(deedOf(wish), reason);
}

function provenEnough({ powerCause, powerForMs, powerSeenMsAgo }: ServerFacts, wish: PowerWish) {
  const { target, evidence } = wish;
  if (evidence === undefined) return undefined;
  if (evidence === 'sure' && powerCause === 'unknown' && powerForMs < driftMs)
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
function outwaitOpposite(
  server: ServerFacts,
  wish: PowerWish,
  { sinceRequestMs, since, target: opposite }: NonNullable<ServerFacts['transition']>,
): PowerDecision {
  if (server.nextLookInMs <= 0) return act('observe', 'PowerNotYetConfirmed');
  if (sinceRequestMs >= server.powerTimeoutMs)
    return act(wish.target === 'Off' ? 'forceOff' : deedOf(wish), 'PowerChangeNeverShowed');
  return wait(
    server.nextLookInMs,
    'PowerChangeUnderWay',
    `power ${opposite} was asked for at ${since} and has not shown yet; it is taken back as soon as it does`,
  );
}

const deedOf = ({ target, start = 'diskBoot' }: PowerWish): ServerAction => (target === 'Off' ? 'powerOff' : start);

const mayForce = ({ claim, enforcePowerOff }: ServerFacts, wish: PowerWish): boolean =>
  wish.mayForce ?? (claim.standing !== 'held' || enforcePowerOff);

function escalationOf(server: ServerFacts, wish: PowerWish): string {
  if (wish.target === 'On') return 'asked for again';
  return mayForce(server, wish) ? 'forced off' : 'reported';
}

function escalate(
  server: ServerFacts,
  changing: NonNullable<ServerFacts['transition']>,
  wish: PowerWish,
): PowerDecision {
  if (wish.target === 'Off' && !mayForce(server, wish)) {
    return wait(
      seconds(30),
      'ShutdownIgnored',
      `the operating system ignores the shutdown that was asked for at ${changing.since}; --enforce-power-off would force it. The BMC reports ${server.power}`,
    );
  }
  if (changing.attempts >= server.maxPowerAttempts && server.failure !== undefined)
    return go('Error', server.failure.reason, server.failure.message);
  if (wish.target === 'On')
    return act(deedOf(wish), 'PowerOnRepeated', `asked for ${wish.reason}, but the BMC still reports ${server.power}`);
  return act(
    'forceOff',
    changing.forced ? 'ForcedPowerOffRepeated' : 'ShutdownIgnored',
    `the BMC still reports ${server.power}`,
  );
}
