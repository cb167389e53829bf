import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { ownedBy } from '@metal/kube/kinds/kind.ts';
import { isDiscoveryBoot } from '@metal/api/wire/internal-boot.ts';
import type { Sender } from './admission.ts';
import { fieldManager, guardedPut, replaceSpec, requireFits } from './guarded-put.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { RegistryError } from './registry-error.ts';

export interface ReportStoreOptions {
  auth: 'token' | 'none';
  client: KubeClient;
  inventories: Cache<ServerInventory>;
  clock: Clock;
}

export interface Delivery {
  sender: Sender;
  report: ProbeReport;
  /** The request body; its digest identifies a repetition. */
  bytes: Uint8Array;
}

/**
 * Stores one report per server, as a ServerInventory of its name. Writes are guarded by the resource version, so that of two
 * replicas with a report each only one stores the first.
 */
export class ReportStore {
  readonly #options: ReportStoreOptions;

  constructor(options: ReportStoreOptions) {
    this.#options = options;
  }

  /**
   * Stores the report, unless it is stored already.
   * @throws RegistryError `ReportedDifferently` if this boot has another report
   */
  async put(delivery: Delivery): Promise<'stored' | 'known'> {
    const { client, inventories } = this.#options;
    const { name } = delivery.sender.server.metadata;
    requireFits(delivery.report);
    return guardedPut({
      client,
      kind: ServerInventory,
      name,
      existing: inventories.get(name),
      isKnown: (existing) => this.#isKnown(existing, delivery),
      write: (existing) => this.#write(existing, delivery),
    });
  }

  /** With tokens a boot has one report. Without them the last one is stored, unless only its timestamp differs. */
  #isKnown(existing: ServerInventory, { sender, report, bytes }: Delivery): boolean {
    const { spec, metadata } = existing;
    if (ownerUidOf(existing) !== sender.server.metadata.uid || metadata.deletionTimestamp !== undefined) return false;
    if (spec.bootConfigurationUID !== discoveryUidOf(sender)) return false;
    if (spec.reportDigest === digestOf(bytes)) return true;
    if (this.#options.auth === 'none') return isDeepStrictEqual(withoutTime(spec.report), withoutTime(report));
    throw new RegistryError(
      'ReportedDifferently',
      'this boot has already reported something else; the first report stands',
    );
  }

  async #write(existing: ServerInventory | undefined, delivery: Delivery): Promise<void> {
    const { client } = this.#options;
    const { server } = delivery.sender;
    const { name } = server.metadata;
    const spec = this.#specOf(delivery);
    if (existing !== undefined && ownerUidOf(existing) === server.metadata.uid)
      return replaceSpec({ client, kind: ServerInventory, name }, existing, spec);
    // The object of an earlier Server of that name will be garbage-collected, and the new report with it.
    if (existing !== undefined) await client.delete(ServerInventory, { name }, { uid: existing.metadata.uid });
    await client.create(
      ServerInventory,
      { metadata: { name, ownerReferences: [ownedBy(server)] }, spec },
      { fieldManager },
    );
  }

  #specOf({ sender, report, bytes }: Delivery): ServerInventory['spec'] {
    return {
      serverRef: { name: sender.server.metadata.name },
      systemUUID: sender.server.spec.systemUUID.toLowerCase(),
      bootConfigurationUID: discoveryUidOf(sender),
      receivedTime: new Date(this.#options.clock.now()).toISOString(),
      reportDigest: digestOf(bytes),
      report,
    };
  }
}

/** Without tokens an installed system may report too, which does not belong to the discovery boot. */
const discoveryUidOf = ({ boot }: Sender): string | undefined =>
  boot !== undefined && isDiscoveryBoot(boot) ? boot.metadata.uid : undefined;

const ownerUidOf = ({ metadata }: ServerInventory): string | undefined =>
  metadata.ownerReferences?.find(({ kind }) => kind === 'Server')?.uid;
const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const withoutTime = (report: ProbeReport): object => ({ ...report, timestamp: undefined });
