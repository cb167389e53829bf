import { type Clock, sleepOn } from '@metal/kube/runtime/clock.ts';

const tickIntervalMs = 20;
/** At most this much of the time between two readings counts. */
const maxStepMs = 100;

/**
 * A clock for tests, at a multiple of the wall clock's speed. It stops while this process or its machine is suspended:
 * a second without any work would be ten seconds in which a lease was not renewed.
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
