import { kinds } from '@metal/api/kinds.ts';
import { startTestenv, type Testenv } from '@metal/testenv/testenv.ts';
import type { Cluster } from '@metal/testenv/cluster/cluster.ts';

/** Shared by the tests about missing and outdated kinds. */

/** For an operator that is a process, so that its seconds are real ones. */
export const startForProcess = (cluster: Cluster): Promise<Testenv> =>
  startTestenv({
    cluster,
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 200 },
  });

export async function readinessAt(port: number): Promise<{ status: number; text: string }> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  return { status: response.status, text: await response.text() };
}

/**
 * Before a deletion of CRDs. The API server (1.36) prepares the storage of a kind at its first request; a kind that nobody has read
 * before may be left with the condition InstanceDeletionFailed ("storage is (re)initializing") for minutes.
 */
export async function readKinds({ client }: Testenv): Promise<void> {
  await Promise.all(kinds.map((kind) => client.list(kind)));
}
