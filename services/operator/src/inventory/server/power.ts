import { act, type Decision, seconds, wait } from '@metal/kube/decide.ts';
import type { ServerAction, ServerFacts } from './facts.ts';

type PowerDecision = Decision<never, ServerAction>;

/** Power is never changed on what was true at the last resync: the look before the deed is this young. */
const freshForMs = seconds(10);

/** Why nothing can be done at the machine at all, or that it has to be looked at first. */
export function obstacle({ bmc, powerSeenMsAgo }: ServerFacts): PowerDecision | undefined {
  if (!bmc.answers) return wait(seconds(600), bmc.reason, bmc.message);
  return powerSeenMsAgo === undefined ? act('observe', 'NotYetSeen') : undefined;
}

/**
 * The next step towards a power state, or undefined when the machine has been seen in it. Starts a change, looks with
 * growing pauses, escalates a shutdown that is ignored to a forced one, and asks again for a start that did not happen.
 */
export function whenPowerIs(target: 'On' | 'Off', server: ServerFacts, reason: string): PowerDecision | undefined {
  const changing = server.transition?.target === target ? server.transition : undefined;
  if (changing === undefined) return startFromHere(target, server, reason);
  if (changing.sinceRequestMs >= server.powerTimeoutMs) return escalate(target, server, changing, reason);
  if (server.nextLookInMs <= 0) return act('observe', 'PowerNotYetConfirmed');
  const asked = `asked at ${changing.since}${changing.forced ? ', by force' : ''}; the BMC reports ${server.power}`;
  return wait(server.nextLookInMs, target === 'Off' ? 'WaitingForPowerOff' : 'WaitingForPowerOn', asked);
}

function startFromHere(target: 'On' | 'Off', server: ServerFacts, reason: string): PowerDecision | undefined {
  if (server.power === target)
    return server.transition === undefined ? undefined : outwaitOpposite(target, server, server.transition);
  if ((server.powerSeenMsAgo ?? Infinity) > freshForMs) return act('observe', 'LookBeforePowerChange');
  if (server.power === `Powering${target}`)
    return wait(seconds(1), `WaitingForPower${target}`, `the BMC reports ${server.power}`);
  return act(target === 'Off' ? 'powerOff' : startWith(server), reason);
}

/**
 * The opposite was asked for and has not shown yet: the machine is about to leave the wanted state. It is taken back
 * when it arrives, or by force when it never does, so that no late power-on surprises the next owner.
 */
function outwaitOpposite(
  target: 'On' | 'Off',
  server: ServerFacts,
  { sinceRequestMs, since, target: opposite }: NonNullable<ServerFacts['transition']>,
): PowerDecision {
  if (server.nextLookInMs <= 0) return act('observe', 'PowerNotYetConfirmed');
  if (sinceRequestMs >= server.powerTimeoutMs)
    return act(target === 'Off' ? 'forceOff' : startWith(server), 'PowerChangeNeverShowed');
  return wait(
    server.nextLookInMs,
    'PowerChangeUnderWay',
    `power ${opposite} was asked for at ${since} and has not shown yet; it is taken back as soon as it does`,
  );
}

/** A claim whose image has run starts from its disk; everything else that is started here boots from the network. */
function startWith({ claim }: ServerFacts): ServerAction {
  return claim.standing === 'held' && claim.provisioned ? 'diskBoot' : 'networkBoot';
}

function escalate(
  target: 'On' | 'Off',
  server: ServerFacts,
  changing: NonNullable<ServerFacts['transition']>,
  reason: string,
): PowerDecision {
  if (server.nextLookInMs <= 0) return act('observe', 'PowerNotYetConfirmed');
  if (target === 'On')
    return act(startWith(server), 'PowerOnRepeated', `asked for ${reason}, but the BMC still reports ${server.power}`);
  const mayForce = server.claim.standing !== 'held' || server.enforcePowerOff;
  if (mayForce)
    return act(
      'forceOff',
      changing.forced ? 'ForcedPowerOffRepeated' : 'ShutdownIgnored',
      `the BMC still reports ${server.power}`,
    );
  return wait(
    seconds(30),
    'ShutdownIgnored',
    `the operating system ignores the shutdown its claim asked for; --enforce-power-off would force it. The BMC reports ${server.power}`,
  );
}
