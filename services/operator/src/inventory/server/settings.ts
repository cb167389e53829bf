import { setBootOrder as sendBootOrder } from '@metal/redfish/boot-override.ts';
import { type LocatorLight, setLocatorLed } from '@metal/redfish/led.ts';
import type { SentSetting } from '../../observations.ts';
import { isRefusal, memoryOf, onlyTo, type ServerTurn, systemUriOf, talk } from './machine.ts';

/** Sent once per wish: some BMCs never echo the light, and some have none. */
export async function setLight(turn: ServerTurn): Promise<void> {
  const { wish } = turn.facts.light;
  if (wish !== 'Lit' && wish !== 'Blinking' && wish !== 'Off') return;
  const light: LocatorLight = wish;
  const uri = await systemUriOf(turn);
  memoryOf(turn).light = await sent(wish, () => talk(turn, (bmc) => setLocatorLed(bmc, uri, light, onlyTo(turn))));
}

/** Sent once per wish: what the BMC adds to its order by itself is its own affair. */
export async function setBootOrder(turn: ServerTurn): Promise<void> {
  const { wish } = turn.facts.bootOrder;
  if (wish === undefined) return;
  const uri = await systemUriOf(turn);
  const devices = wish.split(' ');
  const send = () => talk(turn, (bmc) => sendBootOrder(bmc, uri, devices, onlyTo(turn)));
  memoryOf(turn).bootOrder = await sent(wish, send);
}

/** A BMC that does not take a setting is no reason to stop: the condition tells, and everything else goes on. */
async function sent(wish: string, send: () => Promise<unknown>): Promise<SentSetting> {
  try {
    await send();
    return { wish, refusal: undefined };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { wish, refusal: error.message };
  }
}
