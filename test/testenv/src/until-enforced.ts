import { systemClock } from '@metal/kube/runtime/clock.ts';

const tries = 600;
const pauseMs = 100;

/** The API server acts on a policy a second or two after it was made, and tells nobody when: it is asked again and again. */
export async function untilEnforced(isEnforced: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    if (await isEnforced()) return;
    await systemClock.sleep(pauseMs);
  }
  throw new Error(`the API server did not act on the policy within ${(tries * pauseMs) / 1_000} s`);
}
