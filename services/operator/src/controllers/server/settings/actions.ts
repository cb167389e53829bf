import { setBootOrder as sendBootOrder } from '@metal/redfish/resources/boot-override.ts';
import { type LocatorLight, setLocatorLed } from '@metal/redfish/resources/led.ts';
import type { SentSetting } from '../../../bmc-connections/observed-state.ts';
import { isRejectedRequest, memoryOf, onlyTo, type ServerReconcile, systemUriOf, withBmc } from '../machine.ts';

/** Sent once per wish: some BMCs never echo the light, and some have none. */
export async function setLight(reconcile: ServerReconcile): Promise<void> {
  const { desired } = reconcile.facts.light;
  if (desired !== 'Lit' && desired !== 'Blinking' && desired !== 'Off') return;
  const light: LocatorLight = desired;
  const uri = await systemUriOf(reconcile);
  memoryOf(reconcile).light = await sent(desired, () =>
    withBmc(reconcile, (bmc) => setLocatorLed(bmc, uri, light, onlyTo(reconcile))),
  );
}

/** Sent once per wish: what the BMC adds to its order by itself is its own affair. */
export async function setBootOrder(reconcile: ServerReconcile): Promise<void> {
  const { desired } = reconcile.facts.bootOrder;
  if (desired === undefined) return;
  const uri = await systemUriOf(reconcile);
  const devices = desired.split(' ');
  const send = () => withBmc(reconcile, (bmc) => sendBootOrder(bmc, uri, devices, onlyTo(reconcile)));
  memoryOf(reconcile).bootOrder = await sent(desired, send);
}

/** A BMC that does not take a setting is no reason to stop: the condition tells, and everything else goes on. */
async function sent(desired: string, send: () => Promise<unknown>): Promise<SentSetting> {
  try {
    await send();
    return { desired, rejection: undefined };
  } catch (error) {
    if (!isRejectedRequest(error)) throw error;
    return { desired, rejection: error.message };
  }
}
