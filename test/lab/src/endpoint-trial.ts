import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import { systemClock } from '@metal/kube/clock.ts';
import { KubeError } from '@metal/kube/errors.ts';

const attempts = 100;

interface Trial {
  readonly name: string;
  readonly macAddress: string;
}

/**
 * Asks whether an Endpoint would be created, which it is not, until the API server refuses it: it hears of what it
 * refuses by through a watch of its own, and tells nobody when. Resolves with the words of the refusal.
 */
export async function untilRefused(client: KubeClient, trial: Trial): Promise<string> {
  return untilAnswered('refused', trial, async () => refusalOf(client, trial));
}

/** The same until the API server would create it. */
export async function untilTaken(client: KubeClient, trial: Trial): Promise<void> {
  await untilAnswered('took', trial, async () =>
    (await refusalOf(client, trial)) === undefined ? 'taken' : undefined,
  );
}

async function untilAnswered(
  what: string,
  { name, macAddress }: Trial,
  ask: () => Promise<string | undefined>,
): Promise<string> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await systemClock.sleep(100);
  }
  throw new Error(`in ${attempts / 10} s the API server never ${what} an Endpoint ${name} with ${macAddress}`);
}

/** Undefined when it would be created. */
async function refusalOf(client: KubeClient, { name, macAddress }: Trial): Promise<string | undefined> {
  const { apiVersion, kind, plural } = Endpoint;
  const path = `/apis/${apiVersion}/${plural}?dryRun=All`;
  try {
    await client.raw({ method: 'POST', path, body: { apiVersion, kind, metadata: { name }, spec: { macAddress } } });
    return undefined;
  } catch (error) {
    if (error instanceof KubeError && error.code === 'Invalid') return error.message;
    throw error;
  }
}
