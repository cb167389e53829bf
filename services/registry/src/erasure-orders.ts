import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { cleanupAttemptAnnotation } from '@metal/api/wire/contract.ts';
import type { ErasureReportBody } from '@metal/api/wire/erasure.ts';
import { withdrawalOf } from '@metal/api/wire/withdrawal.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { type Admission, confirmedForMs, maxConfirmed } from './admission.ts';
import type { ErasureDelivery } from './erasure-store.ts';
import { RegistryError } from './registry-error.ts';
import { BoundedMap } from '@metal/kube/runtime/bounded-map.ts';

export interface ErasureOrdersOptions {
  readonly admission: Admission;
  readonly clock: Clock;
}

/**
 * Checks each erasure report against the order. An agent erases its disks once its first report is acknowledged, and continues
 * until a report is rejected: neither can be revoked, and a watch may be stale for minutes.
 *
 *   first report                ─► reads the API server
 *   progress                    ─► reads the API server every 20 s, the caches in between
 *   last report                 ─► reads the API server: the order may have just been withdrawn
 *   rejected by the caches      ─► reads the API server before the rejection is sent
 */
export class ErasureOrders {
  readonly #options: ErasureOrdersOptions;
  /** By UID of the boot. */
  readonly #confirmedAt = new BoundedMap<string, number>(maxConfirmed);

  constructor(options: ErasureOrdersOptions) {
    this.#options = options;
  }

  /** @throws RegistryError if there is no order, or it was withdrawn */
  async deliveryOf(report: ErasureReportBody, boot: ServerBootConfiguration): Promise<ErasureDelivery> {
    const { admission, clock } = this.#options;
    const known = this.#mayTrustCache(report, boot) ? admission.knownSenderOf(report.systemUUID, boot) : undefined;
    if (known !== undefined && rejectionOf({ ...known, report }) === undefined) return { ...known, report };
    const requestedAt = clock.now();
    const delivery = { ...(await admission.confirmedSenderOf(report.systemUUID, boot)), report };
    const rejection = rejectionOf(delivery);
    if (rejection !== undefined) throw rejection;
    this.#confirmedAt.set(boot.metadata.uid ?? '', requestedAt);
    return delivery;
  }

  #mayTrustCache({ state, disks }: ErasureReportBody, { metadata }: ServerBootConfiguration): boolean {
    if (state !== 'Running') return false;
    const isAboutToStart = disks.every(({ result }) => result === 'Pending');
    const confirmedAt = this.#confirmedAt.get(metadata.uid ?? '') ?? Number.NEGATIVE_INFINITY;
    return !isAboutToStart && this.#options.clock.now() - confirmedAt < confirmedForMs;
  }
}

/**
 * Accepts reports for the current attempt of an order. For a withdrawn order it accepts only `Failed`, which lists the disks
 * that were erased before.
 */
export function rejectionOf({ server, boot, report }: ErasureDelivery): RegistryError | undefined {
  const { metadata, status } = server;
  if (metadata.deletionTimestamp !== undefined)
    return new RegistryError('ErasureNotOrdered', `Server ${metadata.name} is being deleted; nothing is to be erased`);
  const state = status?.state ?? 'Initial';
  if (state !== 'Cleanup')
    return new RegistryError(
      'ErasureNotOrdered',
      `Server ${metadata.name} is in state ${state}; nothing is to be erased`,
    );
  const withdrawal = withdrawalOf(server);
  if (withdrawal !== undefined && report.state !== 'Failed')
    return new RegistryError('ErasureNotOrdered', `Server ${metadata.name}: ${withdrawal}; nothing is to be erased`);
  const ordered = boot.metadata.annotations?.[cleanupAttemptAnnotation];
  if (String(report.attempt) !== ordered)
    return new RegistryError(
      'ErasureNotOrdered',
      `the token is of attempt ${ordered}; the report is of ${report.attempt}`,
    );
  const unerased = report.disks.find(({ result }) => result !== 'Erased');
  return report.state === 'Succeeded' && unerased !== undefined
    ? new RegistryError(
        'ReportInvalid',
        `state: Succeeded, but disk ${unerased.name || unerased.serial} is ${unerased.result}`,
      )
    : undefined;
}

/** Only cleanup boots have an order. */
export function requireCleanupBoot({ metadata }: ServerBootConfiguration): void {
  if (metadata.annotations?.[cleanupAttemptAnnotation] !== undefined) return;
  throw new RegistryError('TokenNotForReports', 'the token belongs to a boot that has no order to erase disks');
}
