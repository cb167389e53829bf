import { fieldManagerOf } from '@metal/kube/client/field-managers.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { EventRecorder } from '@metal/kube/client/events.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { type Condition, keyOf } from '@metal/kube/kinds/kind.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Logger } from 'pino';
import { BootError } from '../../errors.ts';
import { printableImage } from '../../images/image-url.ts';
import type { BootConfigs } from './boot-configs.ts';
import {
  conditionsOf,
  isReported,
  isSameGeneration,
  isValidated,
  preparedBy,
  validationFailed,
  type ValidationResult,
} from './validation-result.ts';

export interface ValidationReporterOptions {
  readonly client: KubeClient;
  readonly servers: Cache<Server>;
  readonly bootConfigs: BootConfigs;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Others write the status of a new boot configuration at the same time. */
const maxConflicts = 5;

/** Writes the result of a validation: status, conditions, event, log line, and the published boot configs. */
export class ValidationReporter {
  readonly #options: ValidationReporterOptions;

  constructor(options: ValidationReporterOptions) {
    this.#options = options;
  }

  async report(boot: ServerBootConfiguration, result: ValidationResult): Promise<void> {
    // A slow retry must not remove the reason of the last failure.
    if (result.state === 'Pending' && isValidated(boot)) return;
    const { clock, servers, bootConfigs } = this.#options;
    const conditions = conditionsOf(boot, result, clock.now());
    await this.#writeResult(boot, result, conditions);
    await bootConfigs.publishStatus(boot, servers.get(boot.spec.serverRef.name), { ...result, conditions });
  }

  async #writeResult(boot: ServerBootConfiguration, result: ValidationResult, conditions: Condition[]): Promise<void> {
    const { log, events } = this.#options;
    const status = { state: result.state, conditions, ...preparedFields(boot, result) };
    if (isReported(boot, status)) return;
    await this.#write(boot, status);
    const fields = {
      boot: keyOf(boot),
      server: boot.spec.serverRef.name,
      image: printableImage(boot.spec.diskImage?.url ?? boot.spec.image ?? ''),
      state: result.state,
    };
    if (result.error === undefined) {
      const choice = {
        ...status.boot,
        checksum: status.diskImage?.checksum,
        rejectedMethods: result.plan?.rejectedMethods,
      };
      log.info({ ...fields, ...choice }, result.state === 'Ready' ? 'boot configuration is ready' : 'pulling an image');
      return;
    }
    const { code, message, cause } = result.error;
    // The cause is not in the condition, which tenants read.
    const detail = cause instanceof BootError ? { detail: cause.message } : {};
    log.warn({ ...fields, code, reason: message, ...detail }, 'boot configuration cannot be booted');
    events.record(boot, { type: 'Warning', reason: validationFailed, action: 'Prepare', note: message });
  }

  /**
   * Writes to the validated object only: one that was recreated under the same name may have another image. The API server
   * ignores a UID in a write of the status, so the resource version guards it.
   */
  async #write(validated: ServerBootConfiguration, status: ServerBootConfiguration['status']): Promise<void> {
    const { client } = this.#options;
    const { name, namespace } = validated.metadata;
    for (let { resourceVersion } = validated.metadata, conflicts = 0; ; conflicts += 1) {
      try {
        await client.apply(
          ServerBootConfiguration,
          { metadata: { name, namespace, resourceVersion }, status },
          // The operator writes Pending until a boot service decides; from then on this manager owns the state.
          { fieldManager: fieldManagerOf('boot'), subresource: 'status', force: true },
        );
        return;
      } catch (error) {
        const isConflict = error instanceof KubeError && error.code === 'Conflict';
        if (!isConflict || conflicts === maxConflicts) throw error;
        const now = await client.find(ServerBootConfiguration, validated.metadata);
        if (now === undefined || !isSameGeneration(now, validated)) throw error;
        if (status?.state === 'Pending' && isValidated(now)) return;
        ({ resourceVersion } = now.metadata);
      }
    }
  }
}

function preparedFields({ metadata, status }: ServerBootConfiguration, { plan, diskImage }: ValidationResult) {
  const { generation: observedGeneration = 0 } = metadata;
  if (diskImage !== undefined) return { diskImage: { ...diskImage, observedGeneration } };
  if (plan !== undefined) return { boot: preparedBy(plan) };
  // The description of the deployed image stays while another one is fetched or cannot be.
  return status?.diskImage !== undefined ? { diskImage: status.diskImage } : {};
}
