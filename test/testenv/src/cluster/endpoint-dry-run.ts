import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { KubeError } from '@metal/kube/errors.ts';

const attempts = 100;

interface DryRunEndpoint {
  readonly name: string;
  readonly macAddress: string;
}

/**
 * Sends dry-run creations of an Endpoint until the API server rejects one: its admission rules read their parameters
 * from a watch of their own, without a sign of their state. Resolves with the message of the rejection.
 */
export async function untilRejected(client: KubeClient, endpoint: DryRunEndpoint): Promise<string> {
  return untilOutcome('refused', endpoint, async () => rejectionOf(client, endpoint));
}

/** The same until the API server would create it. */
export async function untilAccepted(client: KubeClient, endpoint: DryRunEndpoint): Promise<void> {
  await untilOutcome('took', endpoint, async () =>
    (await rejectionOf(client, endpoint)) === undefined ? 'taken' : undefined,
  );
}

async function untilOutcome(
  outcome: string,
  { name, macAddress }: DryRunEndpoint,
  dryRun: () => Promise<string | undefined>,
): Promise<string> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const result = await dryRun();
    if (result !== undefined) return result;
    await systemClock.sleep(100);
  }
  throw new Error(`in ${attempts / 10} s the API server never ${outcome} an Endpoint ${name} with ${macAddress}`);
}

/** Undefined when it would be created. */
async function rejectionOf(client: KubeClient, { name, macAddress }: DryRunEndpoint): Promise<string | undefined> {
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
