import { minutes } from '@metal/kube/runtime/durations.ts';
import { act, wait } from '@metal/kube/controller/decide.ts';
import type { BoundClaim } from './facts.ts';
import { blocker } from '../power/steps.ts';
import type { ServerFacts } from '../types.ts';
import { freshForMs } from '../power/facts.ts';
import type { Step } from '../global-transitions.ts';

/** Replacing a boot configuration costs writes, and whoever asks for its data decides how often there is a reason. */
const renewalPauseMs = minutes(1);

export const whileOff = (fetched: string): string => `${fetched} while the machine was off`;

/** An earlier process may have started it, or a person: it is looked at before the evidence is called early. */
export const confirmOff = (server: ServerFacts): Step<'Error'> | undefined =>
  blocker(server) ?? ((server.powerSeenMsAgo ?? 0) >= freshForMs ? act('observe', 'LookBeforeChange') : undefined);

/** The token of the boot is known to somebody: the machine is not started with it. */
export function renewBoot(server: ServerFacts, { boot, provisioned }: BoundClaim): Step<'Error'> | undefined {
  if (boot?.fetchedWhileOff === undefined || provisioned) return undefined;
  const refresh = confirmOff(server);
  if (refresh !== undefined) return refresh;
  if (server.power !== 'Off') return undefined;
  const message = whileOff(boot.fetchedWhileOff);
  const inMs = renewalPauseMs - (server.bootRenewedMsAgo ?? renewalPauseMs);
  return inMs > 0
    ? wait(inMs, 'BootDataFetchedWhileOff', `${message}; it is prepared anew ${Math.ceil(inMs / 1_000)} s from now`)
    : act('renewClaimBoot', 'BootDataFetchedWhileOff', message);
}
