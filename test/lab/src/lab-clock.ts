import { type Clock, sleepOn } from '@metal/kube/clock.ts';

const lookEveryMs = 20;
/** Of a longer time between two looks only this much counts. */
const longestStepMs = 100;

/**
 * A clock for tests, so many times faster than the wall. It stands still while this process does, or the machine under
 * it: a second in which nobody could do anything would be ten seconds in which a lease was not renewed.
 */
export function labClock(speed: number): Clock & Disposable {
  let now = Date.now();
  let lookedAt = performance.now();
  const look = (): number => {
    const at = performance.now();
    now += Math.min(at - lookedAt, longestStepMs) * speed;
    lookedAt = at;
    return now;
  };
  const looking = setInterval(look, lookEveryMs).unref();
  const setClockTimeout = (delayMs: number, callback: () => void): Disposable => {
    const dueAt = look() + delayMs;
    const arm = () => setTimeout(fire, Math.min((dueAt - now) / speed, 2 ** 31 - 1)).unref();
    const fire = () => {
      if (look() >= dueAt) callback();
      else timer = arm();
    };
    let timer = arm();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  };
  return {
    now: look,
    setTimeout: setClockTimeout,
    sleep: (delayMs, signal) => sleepOn(setClockTimeout, delayMs, signal),
    [Symbol.dispose]: () => clearInterval(looking),
  };
}
