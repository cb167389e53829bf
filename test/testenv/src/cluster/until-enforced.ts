import { systemClock } from '@metal/kube/runtime/clock.ts';

const tries = 600;
const pauseMs = 100;

/** The API server enforces a new policy after a second or two without a sign: dry runs are repeated until it does. */
export async function untilEnforced(isEnforced: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    if (await isEnforced()) return;
    await systemClock.sleep(pauseMs);
  }
  throw new Error(`the API server did not enforce the policy within ${(tries * pauseMs) / 1_000} s`);
}
