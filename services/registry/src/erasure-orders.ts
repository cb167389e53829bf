import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { cleanupAttemptAnnotation } from '@metal/api/wire/contract.ts';
import type { ErasureReportBody } from '@metal/api/wire/erasure.ts';
import { withdrawalOf } from '@metal/api/wire/withdrawal.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Admission } from './admission.ts';
import type { ErasureDelivery } from './erasure-store.ts';
import { HttpError } from './http-error.ts';

export interface ErasureOrdersOptions {
  readonly admission: Admission;
  readonly clock: Clock;
}

/** With the 5 s between two reports, an agent that erases is stopped within 30 s, also by a registry whose watches died. */
const confirmedForMs = 20_000;
/** Boots whose confirmation is remembered; those that were silent for longest are forgotten first. */
const maxBoots = 10_000;

/**
 * Whether what an agent tells was ordered. It writes to its disks when its word that it is about to begin is acknowledged, and
 * goes on as long as it is not refused: neither can be taken back, and a watch may be dead for minutes before that is noticed.
 *
 *   about to begin              ─► the API server is asked
 *   goes on                     ─► the API server is asked every 20 s, our caches meanwhile
 *   the end                     ─► the API server is asked: the order may have been withdrawn a moment before
 *   refused by our caches       ─► the API server is asked before that is said
 */
export class ErasureOrders {
  readonly #options: ErasureOrdersOptions;
  /** By UID of the boot. */
  readonly #confirmedAt = new Map<string, number>();

  constructor(options: ErasureOrdersOptions) {
    this.#options = options;
  }

  /** @throws Refusal for what was not ordered, or is no more. */
  async deliveryOf(report: ErasureReportBody, boot: ServerBootConfiguration): Promise<ErasureDelivery> {
    const { admission, clock } = this.#options;
    const known = this.#mayTrustCache(report, boot) ? admission.knownSenderOf(report.systemUUID, boot) : undefined;
    if (known !== undefined && httpErrorOf({ ...known, report }) === undefined) return { ...known, report };
    const requestedAt = clock.now();
    const delivery = { ...(await admission.confirmedSenderOf(report.systemUUID, boot)), report };
    const httpError = httpErrorOf(delivery);
    if (httpError !== undefined) throw httpError;
    this.#remember(boot, requestedAt);
    return delivery;
  }

  #mayTrustCache({ state, disks }: ErasureReportBody, { metadata }: ServerBootConfiguration): boolean {
    if (state !== 'Running') return false;
    const isAboutToStart = disks.every(({ result }) => result === 'Pending');
    const confirmedAt = this.#confirmedAt.get(metadata.uid ?? '') ?? Number.NEGATIVE_INFINITY;
    return !isAboutToStart && this.#options.clock.now() - confirmedAt < confirmedForMs;
  }

  #remember({ metadata: { uid = '' } }: ServerBootConfiguration, at: number): void {
    this.#confirmedAt.delete(uid);
    this.#confirmedAt.set(uid, at);
    const [oldest = ''] = this.#confirmedAt.keys();
    if (this.#confirmedAt.size > maxBoots) this.#confirmedAt.delete(oldest);
  }
}

/**
 * Reports are taken for the attempt that is under way, and for what was ordered. Of an order that was withdrawn only the end
 * without success is taken: it tells what was erased until then.
 */
export function httpErrorOf({ server, boot, report }: ErasureDelivery): HttpError | undefined {
  const { metadata, status } = server;
  if (metadata.deletionTimestamp !== undefined)
    return new HttpError('ErasureNotOrdered', `Server ${metadata.name} is being deleted; nothing is to be erased`);
  const state = status?.state ?? 'Initial';
  if (state !== 'Cleanup')
    return new HttpError('ErasureNotOrdered', `Server ${metadata.name} is in state ${state}; nothing is to be erased`);
  const withdrawal = withdrawalOf(server);
  if (withdrawal !== undefined && report.state !== 'Failed')
    return new HttpError('ErasureNotOrdered', `Server ${metadata.name}: ${withdrawal}; nothing is to be erased`);
  const ordered = boot.metadata.annotations?.[cleanupAttemptAnnotation];
  if (String(report.attempt) !== ordered)
    return new HttpError('ErasureNotOrdered', `the token is of attempt ${ordered}; the report is of ${report.attempt}`);
  const unerased = report.disks.find(({ result }) => result !== 'Erased');
  return report.state === 'Succeeded' && unerased !== undefined
    ? new HttpError(
        'ReportInvalid',
        `state: Succeeded, but disk ${unerased.name || unerased.serial} is ${unerased.result}`,
      )
    : undefined;
}

/** Only the boots that a cleanup prepares have an order. */
export function requireCleanupBoot({ metadata }: ServerBootConfiguration): void {
  if (metadata.annotations?.[cleanupAttemptAnnotation] !== undefined) return;
  throw new HttpError('TokenNotForReports', 'the token belongs to a boot that has no order to erase disks');
}
