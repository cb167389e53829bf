import { networkBootOnce } from '@metal/redfish/resources/boot-override.ts';
import type { Bmc } from '@metal/redfish/http/bmc.ts';
import { RedfishError, wasNotApplied } from '@metal/redfish/errors.ts';
import { resetSystem, type ResetOptions } from '@metal/redfish/resources/power.ts';
import { memoryOf, onlyTo, type ServerReconcile, systemUriOf, withBmc } from '../machine.ts';
import { verifyOwnership } from './verify-ownership.ts';
import type { NetworkTarget } from '@metal/redfish/resources/boot-override.ts';

export async function shutDown(reconcile: ServerReconcile, forced: boolean): Promise<void> {
  const uri = await systemUriOf(reconcile);
  await requestPower(reconcile, { target: 'Off', forced }, async (bmc, options) => {
    await verifyOwnership(reconcile);
    return resetSystem(bmc, uri, forced ? 'ForceOff' : 'GracefulShutdown', options);
  });
}

/**
 * Remembered when it is sent, not when it is answered: if the answer is lost, or is an error of a BMC that did it all
 * the same, the machine is about to change, and asking again at once could hit it twice.
 */
async function requestPower(
  reconcile: ServerReconcile,
  { target, forced = false }: { target: 'On' | 'Off'; forced?: boolean },
  request: (bmc: Bmc, options: ResetOptions) => Promise<unknown>,
): Promise<void> {
  const memory = memoryOf(reconcile);
  const { transition, preparedBoot } = memory;
  const onSend = () => memory.requested(target, forced, reconcile.context.clock.now());
  try {
    await withBmc(reconcile, (bmc) => request(bmc, { ...onlyTo(reconcile), onSend }));
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    if (wasNotApplied(error)) Object.assign(memory, { transition, preparedBoot });
    if (error.code === 'PowerMismatch') memory.invalidate();
    throw error;
  }
}

/** What the BMC is told for each method, the first that it takes: iPXE is loaded over either, and starts a UKI too. */
const targetsOf: Readonly<Record<string, readonly NetworkTarget[]>> = {
  iPXE: ['Pxe', 'UefiHttp'],
  UefiHttp: ['UefiHttp', 'Pxe'],
};

/** Other boot services do not say how; v0.7.0 always asks for PXE. */
const usualTargets: readonly NetworkTarget[] = ['Pxe', 'UefiHttp'];

/** The override is set just before the power-on that consumes it, so that no other reboot can pick it up. */
export async function networkBoot(reconcile: ServerReconcile): Promise<void> {
  const uri = await systemUriOf(reconcile);
  await requestPower(reconcile, { target: 'On' }, async (bmc, options) => {
    const memory = memoryOf(reconcile);
    memory.overrideCleared = false;
    const { bootMethod = '' } = reconcile.facts;
    const { target, rejections } = await networkBootOnce(
      bmc,
      uri,
      targetsOf[bootMethod] ?? usualTargets,
      onlyTo(reconcile),
    );
    for (const { message } of rejections)
      reconcile.warn('BootTargetRefused', `${message}. It boots from ${target} instead`);
    const onSend = () => {
      options.onSend?.();
      if (memory.firstBoot !== undefined) memory.firstBoot = { ...memory.firstBoot, requested: true };
    };
    await resetSystem(bmc, uri, 'On', { ...options, onSend, expectedPower: 'Off' });
  });
}

export async function diskBoot(reconcile: ServerReconcile): Promise<void> {
  const uri = await systemUriOf(reconcile);
  await requestPower(reconcile, { target: 'On' }, (bmc, options) => resetSystem(bmc, uri, 'On', options));
}
