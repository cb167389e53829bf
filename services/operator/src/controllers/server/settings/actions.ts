import { setBootOrder as sendBootOrder } from '@metal/redfish/resources/boot-override.ts';
import { type LocatorLight, setLocatorLed } from '@metal/redfish/resources/led.ts';
import type { SentSetting } from '../../../bmc-connections/observed-state.ts';
import { isRejectedRequest, memoryOf, onlyTo, type ServerReconcile, systemUriOf, withBmc } from '../machine.ts';

/** Sent once per desired value: some BMCs never report the light, and some have none. */
export async function setLight(reconcile: ServerReconcile): Promise<void> {
  const { desired } = reconcile.facts.light;
  if (desired !== 'Lit' && desired !== 'Blinking' && desired !== 'Off') return;
  const light: LocatorLight = desired;
  const uri = await systemUriOf(reconcile);
  memoryOf(reconcile).light = await send(desired, () =>
    withBmc(reconcile, (bmc) => setLocatorLed(bmc, uri, light, onlyTo(reconcile))),
  );
}

/** Sent once per desired value: a BMC may append devices of its own to the order. */
export async function setBootOrder(reconcile: ServerReconcile): Promise<void> {
  const { desired } = reconcile.facts.bootOrder;
  if (desired === undefined) return;
  const uri = await systemUriOf(reconcile);
  const devices = reconcile.facts.bootOrderDevices;
  const request = () => withBmc(reconcile, (bmc) => sendBootOrder(bmc, uri, devices, onlyTo(reconcile)));
  memoryOf(reconcile).bootOrder = await send(desired, request);
}

/** A rejected setting is reported in its condition and does not stop the server. */
async function send(desired: string, request: () => Promise<unknown>): Promise<SentSetting> {
  try {
    await request();
    return { desired, rejection: undefined };
  } catch (error) {
    if (!isRejectedRequest(error)) throw error;
    return { desired, rejection: error.message };
  }
}
