import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { DeploymentReport } from '@metal/api/wire/deployment.ts';
import { deploymentOf } from '@metal/api/wire/internal-boot.ts';
import { deploymentWithdrawalOf } from '@metal/api/wire/withdrawal.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { isConflict } from '@metal/kube/errors.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { type Admission, confirmedForMs, maxConfirmed, type VerifiedSender } from './admission.ts';
import { fieldManager } from './guarded-put.ts';
import { RegistryError } from './registry-error.ts';
import { BoundedMap } from '@metal/kube/runtime/bounded-map.ts';

export interface DeploymentsOptions {
  readonly admission: Admission;
  readonly client: KubeClient;
  readonly clock: Clock;
}

type Deployment = NonNullable<NonNullable<ServerBootConfiguration['status']>['deployment']>;

/** The interval between two writes of progress. */
const progressEveryMs = 5_000;
/** The boot service writes to the same object while a machine boots. */
const maxAttempts = 5;

/**
 * Reports of agents that write an image to a disk, recorded in the status of the boot of the agent. An agent writes once its
 * first report is acknowledged, and stops when a report is rejected. So the API server is read before the first
 * acknowledgement, every 20 s, and for the end.
 */
export class Deployments {
  readonly #options: DeploymentsOptions;
  /** By UID of the boot. */
  readonly #remembered = new BoundedMap<string, { confirmedAt: number; written: Deployment | undefined }>(maxConfirmed);

  constructor(options: DeploymentsOptions) {
    this.#options = options;
  }

  /** @throws RegistryError if nothing is to be deployed, or the deployment has ended before */
  async put(report: DeploymentReport, boot: ServerBootConfiguration): Promise<'stored' | 'known'> {
    if (report.deployment !== deploymentOf(boot))
      throw new RegistryError('DeploymentNotOrdered', 'the report is of another deployment than the token');
    const remembered = this.#remembered.get(boot.metadata.uid ?? '');
    if (remembered !== undefined && this.#isProgress(report, boot, remembered)) {
      if (!this.#isDue(report, remembered.written)) return 'known';
      return this.#write(report, boot, remembered.confirmedAt);
    }
    const requestedAt = this.#options.clock.now();
    const sender = await this.#confirmedSender(report, boot);
    return this.#write(report, sender.boot, requestedAt);
  }

  /** Progress of a deployment that was confirmed a moment ago and that the caches do not reject. */
  #isProgress(
    report: DeploymentReport,
    boot: ServerBootConfiguration,
    { confirmedAt }: { confirmedAt: number },
  ): boolean {
    const { admission, clock } = this.#options;
    if (report.state !== 'Running' || clock.now() - confirmedAt >= confirmedForMs) return false;
    const known = admission.knownSenderOf(report.systemUUID, boot);
    return known !== undefined && deploymentWithdrawalOf(known.server) === undefined;
  }

  #isDue({ step }: DeploymentReport, written: Deployment | undefined): boolean {
    if (written?.step !== step) return true;
    return this.#options.clock.now() - Date.parse(written.time) >= progressEveryMs;
  }

  async #confirmedSender(report: DeploymentReport, boot: ServerBootConfiguration): Promise<VerifiedSender> {
    const { admission, client } = this.#options;
    const sender = await admission.confirmedSenderOf(report.systemUUID, boot);
    const { spec, metadata } = sender.server;
    const claim = spec.serverClaimRef;
    const withdrawal = deploymentWithdrawalOf(sender.server);
    if (withdrawal !== undefined || claim === undefined)
      throw new RegistryError(
        'DeploymentNotOrdered',
        `Server ${metadata.name}: ${withdrawal}; nothing is to be deployed`,
      );
    const ordered = await client.find(ServerBootConfiguration, { namespace: claim.namespace, name: claim.name });
    if (ordered?.metadata.uid === report.deployment && ordered.metadata.deletionTimestamp === undefined) return sender;
    throw new RegistryError('DeploymentNotOrdered', 'the boot configuration with the disk image is gone');
  }

  async #write(
    report: DeploymentReport,
    boot: ServerBootConfiguration,
    confirmedAt: number,
  ): Promise<'stored' | 'known'> {
    const { client } = this.#options;
    for (let [current, attempt] = [boot, 1]; ; attempt += 1) {
      const before = current.status?.deployment;
      if (before !== undefined && before.state !== 'Running') return requireSame(before, report);
      if (report.state === 'Succeeded' && before === undefined)
        throw new RegistryError(
          'DeploymentNotBegun',
          'success is reported for a deployment that never began (Running)',
        );
      const deployment = deploymentFrom(report, this.#options.clock.now());
      const { name, namespace, resourceVersion, uid = '' } = current.metadata;
      try {
        await client.apply(
          ServerBootConfiguration,
          { metadata: { name, namespace, resourceVersion }, status: { deployment } },
          { fieldManager, subresource: 'status' },
        );
        this.#remembered.set(uid, { confirmedAt, written: deployment });
        return 'stored';
      } catch (error) {
        if (!isConflict(error) || attempt === maxAttempts) throw error;
        const found = await client.find(ServerBootConfiguration, { name, namespace });
        if (found?.metadata.uid !== uid)
          throw new RegistryError('BootNotCurrent', 'the boot configuration that the token belongs to is gone');
        current = found;
      }
    }
  }
}

/** The end of a deployment is kept: the same report is acknowledged again. */
function requireSame(before: Deployment, report: DeploymentReport): 'known' {
  if (before.state === report.state && before.reason === report.reason) return 'known';
  throw new RegistryError('ReportedDifferently', `this deployment has already ended in ${before.state}`);
}

const deploymentFrom = (
  { state, step, reason, message, diskName, writtenBytes }: DeploymentReport,
  now: number,
): Deployment => ({
  state,
  step,
  ...(reason === undefined ? {} : { reason }),
  ...(message === '' ? {} : { message }),
  ...(diskName === '' ? {} : { disk: { name: diskName } }),
  writtenBytes,
  time: new Date(now).toISOString(),
});

/** Only deployment boots have an order to write to a disk. */
export function requireDeploymentBoot(boot: ServerBootConfiguration): void {
  if (deploymentOf(boot) !== undefined) return;
  throw new RegistryError('TokenNotForReports', 'the token belongs to a boot that deploys no image');
}
