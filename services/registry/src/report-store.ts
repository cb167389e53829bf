import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import type { Cache } from '@metal/kube/cache.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import type { Clock } from '@metal/kube/clock.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { ownedBy } from '@metal/kube/kind.ts';
import { isDiscoveryBoot, type Sender } from './admission.ts';
import { Refusal } from './refusal.ts';

export interface ReportStoreOptions {
  auth: 'token' | 'none';
  client: KubeClient;
  inventories: Cache<ServerInventory>;
  clock: Clock;
}

export interface Delivery {
  sender: Sender;
  report: ProbeReport;
  /** The body as it arrived: what makes a repetition the same. */
  bytes: Uint8Array;
}

const fieldManager = 'metal-operator/registry';
const mostAttempts = 4;
/** Defaults that are filled in can make a report much bigger than it came; etcd takes 1.5 MiB with everything. */
const mostStoredBytes = 1_258_291;

/**
 * Keeps one report per server, as a ServerInventory named like it. Writes are guarded by what was looked at, so that
 * two replicas that receive reports at once cannot both be the first.
 */
export class ReportStore {
  readonly #options: ReportStoreOptions;

  constructor(options: ReportStoreOptions) {
    this.#options = options;
  }

  /**
   * Stores the report, or finds that it is stored already.
   * @throws Refusal `ReportedDifferently` when this boot has reported something else before.
   */
  async put(delivery: Delivery): Promise<'stored' | 'known'> {
    const { client, inventories } = this.#options;
    const { name } = delivery.sender.server.metadata;
    requireFits(delivery.report);
    let existing = inventories.get(name);
    for (let attempt = 1; ; attempt += 1) {
      if (existing !== undefined && this.#isKnown(existing, delivery)) return 'known';
      try {
        await this.#write(existing, delivery);
        return 'stored';
      } catch (error) {
        if (!isOvertaken(error) || attempt === mostAttempts) throw error;
        existing = await client.find(ServerInventory, { name });
      }
    }
  }

  /** With tokens, a boot has one report. Without, the last one wins, and one that only moves the clock is no news. */
  #isKnown(existing: ServerInventory, { sender, report, bytes }: Delivery): boolean {
    const { spec, metadata } = existing;
    if (ownerUidOf(existing) !== sender.server.metadata.uid || metadata.deletionTimestamp !== undefined) return false;
    if (spec.bootConfigurationUID !== discoveryUidOf(sender)) return false;
    if (spec.reportDigest === digestOf(bytes)) return true;
    if (this.#options.auth === 'none') return isDeepStrictEqual(withoutTime(spec.report), withoutTime(report));
    throw new Refusal('ReportedDifferently', 'this boot has already reported something else; the first report stands');
  }

  async #write(existing: ServerInventory | undefined, delivery: Delivery): Promise<void> {
    const { client } = this.#options;
    const { server } = delivery.sender;
    const { name } = server.metadata;
    if (existing !== undefined && ownerUidOf(existing) === server.metadata.uid)
      return this.#replace(existing, delivery);
    // One of an earlier Server of that name is about to be collected, and would take our report along.
    if (existing !== undefined) await client.delete(ServerInventory, { name }, { uid: existing.metadata.uid });
    await client.create(
      ServerInventory,
      { metadata: { name, ownerReferences: [ownedBy(server)] }, spec: this.#specOf(delivery) },
      { fieldManager },
    );
  }

  async #replace({ metadata }: ServerInventory, delivery: Delivery): Promise<void> {
    const guard = { op: 'replace', path: '/metadata/resourceVersion', value: metadata.resourceVersion } as const;
    const spec = { op: 'replace', path: '/spec', value: this.#specOf(delivery) } as const;
    await this.#options.client.jsonPatch(ServerInventory, { name: metadata.name }, [guard, spec], { fieldManager });
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

export function requireFits(report: object): void {
  const size = Buffer.byteLength(JSON.stringify(report));
  if (size > mostStoredBytes)
    throw new Refusal(
      'BodyTooBig',
      `the report has ${size} bytes with everything filled in; expected at most ${mostStoredBytes}`,
    );
}

/** Without tokens an installed system may report too; that says nothing about the discovery boot. */
const discoveryUidOf = ({ boot }: Sender): string | undefined =>
  boot !== undefined && isDiscoveryBoot(boot) ? boot.metadata.uid : undefined;

const ownerUidOf = ({ metadata }: ServerInventory): string | undefined =>
  metadata.ownerReferences?.find(({ kind }) => kind === 'Server')?.uid;
const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const withoutTime = (report: ProbeReport): object => ({ ...report, timestamp: undefined });

export function isOvertaken(error: unknown): boolean {
  return (
    error instanceof KubeError &&
    (error.code === 'AlreadyExists' || error.code === 'Conflict' || error.code === 'NotFound')
  );
}
