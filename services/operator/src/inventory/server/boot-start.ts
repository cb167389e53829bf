import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { act, minutes, wait } from '@metal/kube/decide.ts';
import type { ObservedSystem } from '../../observations.ts';
import type { BoundClaim } from './claim-facts.ts';
import type { ServerFacts } from './facts.ts';
import { freshForMs, blocker } from './power.ts';
import type { Step } from './prelude.ts';

/** Replacing a boot configuration costs writes, and whoever asks for its data decides how often there is a reason. */
const renewalPauseMs = minutes(1);

/**
 * The operator prepared this boot and has neither asked the machine to start nor seen it on since. `status.pendingBootUID`
 * tells it to the process that comes after; a boot of which nothing is known is taken for one that was started.
 */
export function awaitsStart(
  { metadata: { uid = '' } }: ServerBootConfiguration,
  { status }: Pick<Server, 'status'>,
  memory: ObservedSystem,
): boolean {
  if (status?.pendingBootUID === uid && memory.preparedBoot?.uid !== uid) memory.recordPreparedBoot(uid);
  return memory.preparedBoot?.awaitsStart ?? false;
}

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
