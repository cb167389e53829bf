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
import { RegistryError } from './registry-error.ts';

export interface ErasureStoreOptions {
  client: KubeClient;
  erasures: Cache<ErasureReport>;
  clock: Clock;
}

/** A report, and the verified boot of its sender. */
export interface ErasureDelivery {
  server: Server;
  boot: ServerBootConfiguration;
  report: ErasureReportBody;
}

/** The interval between two writes of progress. */
const progressEveryMs = 5_000;
/** The interval between two writes without progress. */
const heartbeatEveryMs = 60_000;

/**
 * Stores one report per cleanup boot. Progress is replaced; a final report is kept. Writes are guarded by the resource version,
 * so that one of two concurrent final reports is rejected.
 */
export class ErasureStore {
  readonly #options: ErasureStoreOptions;

  constructor(options: ErasureStoreOptions) {
    this.#options = options;
  }

  /**
   * @throws RegistryError `ReportedDifferently` if another final report of this attempt is stored; `ErasureNotBegun` for a success
   * without an earlier `Running`
   */
  async put(delivery: ErasureDelivery): Promise<'stored' | 'known'> {
    const { client, erasures } = this.#options;
    requireFits(delivery.report);
    const name = erasureReportName(delivery.server.metadata.name, delivery.boot.metadata.uid ?? '');
    const place = { client, kind: ErasureReport, name };
    return guardedPut({
      ...place,
      // Another replica may have stored the `Running`.
      existing: erasures.get(name) ?? (isSuccess(delivery) ? await client.find(ErasureReport, { name }) : undefined),
      isKnown: (existing) => this.#isKnown(existing, delivery),
      write: (existing) => {
        const spec = this.#specOf(delivery);
        if (existing !== undefined) return replaceSpec(place, existing, spec);
        if (isSuccess(delivery))
          throw new RegistryError(
            'ErasureNotBegun',
            'success is told of an attempt that never said that it begins (Running)',
          );
        return client.create(ErasureReport, { metadata: { name }, spec }, { fieldManager });
      },
    });
  }

  #isKnown({ spec }: ErasureReport, { boot, report }: ErasureDelivery): boolean {
    if (spec.bootConfigurationUID !== boot.metadata.uid)
      throw new RegistryError(
        'ReportedDifferently',
        'an ErasureReport of another boot has the name that this one needs',
      );
    const isSame = isDeepStrictEqual(contentOf(spec), contentOf(report));
    if (spec.state !== 'Running') {
      if (isSame) return true;
      throw new RegistryError(
        'ReportedDifferently',
        `this attempt has already ended in ${spec.state}; that report stands`,
      );
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

/** An agent reports `Running` before its first write. With the mode None it erases nothing and reports no `Running`. */
const isSuccess = ({ report, boot }: ErasureDelivery): boolean =>
  report.state === 'Succeeded' && boot.metadata.annotations?.[cleanupModeAnnotation] !== 'None';

/** The operator annotates the boot configuration. */
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
