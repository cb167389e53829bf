import { isDeepStrictEqual } from 'node:util';
import { ErasureReport, erasureReportName } from '@metal/api/v1alpha1/erasure-report.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { cleanupModeAnnotation } from '@metal/api/wire/contract.ts';
import { erasureModes, type ErasureReportBody } from '@metal/api/wire/erasure.ts';
import { withdrawalOf } from '@metal/api/wire/withdrawal.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { fieldManager, guardedPut, replaceSpec, requireFits } from './guarded-put.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { HttpError } from './http-error.ts';

export interface ErasureStoreOptions {
  client: KubeClient;
  erasures: Cache<ErasureReport>;
  clock: Clock;
}

/** A report, and the boot that it was proved to come from. */
export interface ErasureDelivery {
  server: Server;
  boot: ServerBootConfiguration;
  report: ErasureReportBody;
}

/** Of what an agent tells on its way, so much reaches the API server. */
const progressEveryMs = 5_000;
/** That an agent lives is written down this often, although nothing moves. */
const heartbeatEveryMs = 60_000;

/**
 * Keeps one report per cleanup boot. What is said on the way is replaced; what is said in the end stands. Writes are
 * guarded by what was looked at, so that of two ends that arrive at once one is refused.
 */
export class ErasureStore {
  readonly #options: ErasureStoreOptions;

  constructor(options: ErasureStoreOptions) {
    this.#options = options;
  }

  /**
   * @throws Refusal `ReportedDifferently` when the end of this attempt is told otherwise already; `ErasureNotBegun` when it
   * tells of success and never told that it begins.
   */
  async put(delivery: ErasureDelivery): Promise<'stored' | 'known'> {
    const { client, erasures } = this.#options;
    requireFits(delivery.report);
    const name = erasureReportName(delivery.server.metadata.name, delivery.boot.metadata.uid ?? '');
    const place = { client, kind: ErasureReport, name };
    return guardedPut({
      ...place,
      // Another replica may have heard that it begins.
      existing: erasures.get(name) ?? (isSuccess(delivery) ? await client.find(ErasureReport, { name }) : undefined),
      isKnown: (existing) => this.#isKnown(existing, delivery),
      write: (existing) => {
        const spec = this.#specOf(delivery);
        if (existing !== undefined) return replaceSpec(place, existing, spec);
        if (isSuccess(delivery))
          throw new HttpError(
            'ErasureNotBegun',
            'success is told of an attempt that never said that it begins (Running)',
          );
        return client.create(ErasureReport, { metadata: { name }, spec }, { fieldManager });
      },
    });
  }

  #isKnown({ spec }: ErasureReport, { boot, report }: ErasureDelivery): boolean {
    if (spec.bootConfigurationUID !== boot.metadata.uid)
      throw new HttpError('ReportedDifferently', 'an ErasureReport of another boot has the name that this one needs');
    const isSame = isDeepStrictEqual(contentOf(spec), contentOf(report));
    if (spec.state !== 'Running') {
      if (isSame) return true;
      throw new HttpError('ReportedDifferently', `this attempt has already ended in ${spec.state}; that report stands`);
    }
    if (report.state !== 'Running') return false;
    const ageMs = this.#options.clock.now() - Date.parse(spec.receivedTime);
    return ageMs >= 0 && ageMs < (isSame ? heartbeatEveryMs : progressEveryMs);
  }

  #specOf({ server, boot, report }: ErasureDelivery): ErasureReport['spec'] {
    const { metadata, spec, status } = server;
    const { serialNumber, cleanup } = status ?? {};
    const withdrawn = report.state === 'Failed' ? withdrawalOf(server) : undefined;
    return {
      serverRef: { name: metadata.name, uid: metadata.uid ?? '' },
      systemUUID: spec.systemUUID.toLowerCase(),
      ...(serialNumber === undefined ? {} : { serialNumber }),
      ...(cleanup?.formerClaim === undefined ? {} : { formerClaim: cleanup.formerClaim }),
      bootConfigurationUID: boot.metadata.uid,
      attempt: report.attempt,
      mode: orderedMode(boot),
      receivedTime: new Date(this.#options.clock.now()).toISOString(),
      state: report.state,
      message: report.message,
      ...(withdrawn === undefined ? {} : { withdrawn }),
      disks: report.disks,
    };
  }
}

/** An agent asks before its first write, and so has said that it begins. One that was to erase nothing has not. */
const isSuccess = ({ report, boot }: ErasureDelivery): boolean =>
  report.state === 'Succeeded' && boot.metadata.annotations?.[cleanupModeAnnotation] !== 'None';

/** A boot configuration of ours says it. */
const orderedMode = ({ metadata }: ServerBootConfiguration): ErasureReport['spec']['mode'] =>
  erasureModes.find((mode) => mode === metadata.annotations?.[cleanupModeAnnotation]) ?? 'None';

const contentOf = ({
  state,
  message = '',
  disks = [],
}: Pick<ErasureReport['spec'], 'state' | 'message' | 'disks'>) => ({
  state,
  message,
  disks,
});
