import { type Clock, sleepOn } from '@metal/kube/runtime/clock.ts';

const tickIntervalMs = 20;
/** Of a longer time between two looks only this much counts. */
const maxStepMs = 100;

/**
 * A clock for tests, so many times faster than the wall. It stands still while this process does, or the machine under
 * it: a second in which nobody could do anything would be ten seconds in which a lease was not renewed.
 */
export function scaledClock(speed: number): Clock & Disposable {
  let now = Date.now();
  let tickedAt = performance.now();
  const tick = (): number => {
    const at = performance.now();
    now += Math.min(at - tickedAt, maxStepMs) * speed;
    tickedAt = at;
    return now;
  };
  const ticker = setInterval(tick, tickIntervalMs).unref();
  const setClockTimeout = (delayMs: number, callback: () => void): Disposable => {
    const dueAt = tick() + delayMs;
    const arm = () => setTimeout(fire, Math.min((dueAt - now) / speed, 2 ** 31 - 1)).unref();
    const fire = () => {
      if (tick() >= dueAt) callback();
      else timer = arm();
    };
    let timer = arm();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  };
  return {
    now: tick,
    setTimeout: setClockTimeout,
    sleep: (delayMs, signal) => sleepOn(setClockTimeout, delayMs, signal),
    [Symbol.dispose]: () => clearInterval(ticker),
  };
}
