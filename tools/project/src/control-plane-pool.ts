import { admissionRules } from '@metal/api/admission.ts';
import { kinds } from '@metal/api/kinds.ts';
import { startControlPlane } from '@metal/controlplane/control-plane.ts';
import { createKubeClient } from '@metal/kube/client/client.ts';
import type { ControlPlane } from '@metal/controlplane/running-control-plane.ts';
import { installKinds, installAdmissionRules } from '@metal/kube/client/install-kinds.ts';

/** Names the directories of the control planes that test files may use, one file at a time; separated by colons. */
export const poolVariable = 'METAL_TEST_CONTROL_PLANES';

/** Control planes with the product's kinds and admission rules, for as many test files as run at once. */
export class ControlPlanePool implements AsyncDisposable {
  readonly #planes: readonly ControlPlane[];

  private constructor(planes: readonly ControlPlane[]) {
    this.#planes = planes;
  }

  static async start(size: number): Promise<ControlPlanePool> {
    const started = await Promise.allSettled(Array.from({ length: size }, startWithKinds));
    const planes = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const pool = new ControlPlanePool(planes);
    const failed = started.find((result) => result.status === 'rejected');
    if (failed === undefined) return pool;
    await pool[Symbol.asyncDispose]();
    throw failed.reason;
  }

  get environment(): NodeJS.ProcessEnv {
    return { [poolVariable]: this.#planes.map(({ directory }) => directory).join(':') };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#planes.map((plane) => plane[Symbol.asyncDispose]()));
  }
}

async function startWithKinds(): Promise<ControlPlane> {
  const plane = await startControlPlane();
  try {
    await using client = createKubeClient({ kubeconfigPath: plane.kubeconfigPath, defaultFieldManager: 'lab' });
    await installKinds(client, kinds);
    await installAdmissionRules(client, admissionRules);
    await plane.rolesReady();
    return plane;
  } catch (error) {
    await plane[Symbol.asyncDispose]();
    throw error;
  }
}
