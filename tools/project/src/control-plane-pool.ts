import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { admissionRules } from '@metal/api/admission.ts';
import { kinds } from '@metal/api/kinds.ts';
import { metal3AdmissionRules } from '@metal/api/metal3/admission/metal3-admission-rules.ts';
import { metal3Kinds } from '@metal/api/metal3/metal3-kinds.ts';
import { startControlPlane, type ControlPlaneOptions } from '@metal/controlplane/control-plane.ts';
import { EtcdSnapshot } from '@metal/controlplane/etcd-snapshot.ts';
import { createKubeClient } from '@metal/kube/client/client.ts';
import type { ControlPlane } from '@metal/controlplane/running-control-plane.ts';
import { installKinds, installAdmissionRules } from '@metal/kube/client/install-kinds.ts';
import { installOperatorRoles } from './generated-roles.ts';

/** Environment variable with the directories of the control planes in the pool, separated by colons. */
export const poolVariable = 'METAL_TEST_CONTROL_PLANES';

/** The snapshot of a control plane of the pool, in its directory: what all test files find. */
export const snapshotFile = 'snapshot';

/** One control plane with the kinds, admission policies and roles of the product for each concurrent test file. */
export class ControlPlanePool implements AsyncDisposable {
  readonly #planes: readonly ControlPlane[];

  private constructor(planes: readonly ControlPlane[]) {
    this.#planes = planes;
  }

  static async start(size: number): Promise<ControlPlanePool> {
    const started = await Promise.allSettled(Array.from({ length: size }, () => startPooled()));
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

async function startPooled(): Promise<ControlPlane> {
  const plane = await startWithKinds({ waitForRoles: true });
  try {
    await using client = createKubeClient({ kubeconfigPath: plane.kubeconfigPath, defaultFieldManager: 'testenv' });
    await installKinds(client, metal3Kinds);
    await installAdmissionRules(client, metal3AdmissionRules);
    await installOperatorRoles(client);
    const snapshot = await EtcdSnapshot.take(plane.directory);
    await writeFile(join(plane.directory, snapshotFile), snapshot.toString());
    return plane;
  } catch (error) {
    await plane[Symbol.asyncDispose]();
    throw error;
  }
}

export interface StartWithKindsOptions extends ControlPlaneOptions {
  /** Installs the product's CRDs. Default: true. */
  readonly crds?: boolean | undefined;
  /** Installs the admission policies. Default: as `crds`. */
  readonly admission?: boolean | undefined;
  /** Waits for the default roles of the API server. Default: false. */
  readonly waitForRoles?: boolean | undefined;
}

/** Starts a control plane and installs the product's kinds and admission policies. */
export async function startWithKinds({
  crds = true,
  admission = crds,
  waitForRoles = false,
  ...options
}: StartWithKindsOptions = {}): Promise<ControlPlane> {
  const plane = await startControlPlane(options);
  try {
    await using client = createKubeClient({ kubeconfigPath: plane.kubeconfigPath, defaultFieldManager: 'testenv' });
    if (crds) await installKinds(client, kinds);
    if (admission) await installAdmissionRules(client, admissionRules);
    if (waitForRoles) await plane.rolesReady();
    return plane;
  } catch (error) {
    await plane[Symbol.asyncDispose]();
    throw error;
  }
}
