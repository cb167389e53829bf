import { RedfishError, wasNotApplied } from '@metal/redfish/errors.ts';
import type { Bmc } from '@metal/redfish/http/bmc.ts';
import { type NetworkTarget, networkBootOnce } from '@metal/redfish/resources/boot-override.ts';
import { type ResetOptions, resetSystem } from '@metal/redfish/resources/power.ts';
import { memoryOf, onlyTo, type ServerReconcile, systemUriOf, withBmc } from '../machine.ts';
import { verifyOwnership } from './verify-ownership.ts';

export const powerOff = (reconcile: ServerReconcile): Promise<void> => shutDown(reconcile, false);
export const forceOff = (reconcile: ServerReconcile): Promise<void> => shutDown(reconcile, true);

async function shutDown(reconcile: ServerReconcile, forced: boolean): Promise<void> {
  const uri = await systemUriOf(reconcile);
  await requestPower(reconcile, { target: 'Off', forced }, async (bmc, options) => {
    await verifyOwnership(reconcile);
    return resetSystem(bmc, uri, forced ? 'ForceOff' : 'GracefulShutdown', options);
  });
}

/** The power-on that boots from the local disk. */
export async function diskBoot(reconcile: ServerReconcile): Promise<void> {
  const uri = await systemUriOf(reconcile);
  await requestPower(reconcile, { target: 'On' }, (bmc, options) => resetSystem(bmc, uri, 'On', options));
}

/** BootSourceOverrideTarget values for each method, in order of preference: either loads iPXE, and can start a UKI. */
const targetsOf: Readonly<Record<string, readonly NetworkTarget[]>> = {
  iPXE: ['Pxe', 'UefiHttp'],
  UefiHttp: ['UefiHttp', 'Pxe'],
};
/** External boot services report no method; v0.7.0 always requests PXE. */
const usualTargets: readonly NetworkTarget[] = ['Pxe', 'UefiHttp'];

/** Sets the one-time override just before the power-on that consumes it, so that no other reboot can pick it up. */
export async function networkBoot(reconcile: ServerReconcile): Promise<void> {
  const uri = await systemUriOf(reconcile);
  await requestPower(reconcile, { target: 'On' }, async (bmc, options) => {
    const memory = memoryOf(reconcile);
    memory.overrideCleared = false;
    const targets = targetsOf[reconcile.facts.bootMethod ?? ''] ?? usualTargets;
    const { target, rejections } = await networkBootOnce(bmc, uri, targets, onlyTo(reconcile));
    for (const { message } of rejections)
      reconcile.warn('BootTargetRefused', `${message}. It boots from ${target} instead`);
    const onSend = () => {
      options.onSend?.();
      if (memory.firstBoot !== undefined) memory.firstBoot = { ...memory.firstBoot, requested: true };
    };
    await resetSystem(bmc, uri, 'On', { ...options, onSend, expectedPower: 'Off' });
  });
}

/**
 * The request is recorded when it is sent: if the response is lost, or is an error after the BMC executed the reset, the
 * machine is about to change, and a second request could reset it twice.
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
