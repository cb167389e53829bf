import { fieldManagerOf } from '@metal/kube/client/field-managers.ts';
import { isDeepStrictEqual } from 'node:util';
import { HTTPBootConfig } from '@metal/api/v1alpha1/http-boot-config.ts';
import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { EventRecorder } from '@metal/kube/client/events.ts';
import { type Condition, controllerOf, type Kind, keyOf, ownedBy } from '@metal/kube/kinds/kind.ts';
import type { Logger } from 'pino';
import type { BootPlan } from '../../images/boot-plan.ts';
import { givesScript } from '../../scripts/custom-script.ts';
import { type PublishedBootConfig, publishedFields, publishedOf } from './published-boot-config.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { BootServiceReason } from '../../reasons.ts';

type BootConfig = IPXEBootConfig | HTTPBootConfig;

export interface BootConfigsOptions {
  client: KubeClient;
  /** For custom scripts. */
  ipxeBootConfigs: Cache<IPXEBootConfig>;
  /** Whether each prepared boot is published for other programs. */
  publishes: boolean;
  publicUrl: () => string;
  events: EventRecorder;
  log: Logger;
}

/** The reported status of a boot configuration. */
export interface ReportedStatus {
  readonly state: 'Ready' | 'Pending' | 'Error';
  readonly conditions: readonly Condition[];
  readonly plan?: BootPlan | undefined;
}

interface Publication {
  readonly boot: ServerBootConfiguration;
  readonly reported: ReportedStatus;
  readonly published: PublishedBootConfig | undefined;
}

const kinds: readonly Kind<BootConfig>[] = [IPXEBootConfig, HTTPBootConfig];
const fieldManager = fieldManagerOf('boot');

/**
 * Publishes boot configurations as the kinds of boot.ironcore.dev.
 *
 *   ServerBootConfiguration ──owns──► IPXEBootConfig or HTTPBootConfig of its name    if enabled: spec and status
 *                           ─ ─ ─ ─ ► IPXEBootConfig with a custom script for it      status only
 *
 * An object of that name with another owner is not changed, and an event reports it.
 */
export class BootConfigs {
  readonly #options: BootConfigsOptions;
  /** UIDs of foreign objects that were reported. */
  readonly #reportedConflicts = new Set<string>();

  constructor(options: BootConfigsOptions) {
    this.#options = options;
  }

  async publishStatus(
    boot: ServerBootConfiguration,
    server: Server | undefined,
    reported: ReportedStatus,
  ): Promise<void> {
    const { ipxeBootConfigs, publishes, publicUrl } = this.#options;
    if (publishes) {
      const published = reported.plan && server && publishedOf(boot, server, reported.plan, publicUrl());
      for (const kind of kinds) await this.#publish(kind, { boot, reported, published });
      return;
    }
    const config = ipxeBootConfigs.get(boot.metadata);
    if (givesScript(config, boot)) await this.#mirror(IPXEBootConfig, config, reported);
  }

  async #publish(kind: Kind<BootConfig>, publication: Publication): Promise<void> {
    const { client } = this.#options;
    const { boot, reported, published } = publication;
    const { name, namespace } = boot.metadata;
    const found = await client.find(kind, { name, namespace });
    if (found !== undefined && controllerOf(found)?.uid !== boot.metadata.uid)
      return this.#reportConflict(kind, found, publication);
    if (published?.kind === kind.kind) {
      const config = await this.#put(kind, found, { boot, spec: published.spec });
      return config && this.#mirror(kind, config, reported);
    }
    if (found === undefined) return;
    // The boot has another method now.
    if (reported.plan !== undefined && !givesScript(scriptable(found), boot))
      return client.delete(kind, found.metadata, { uid: found.metadata.uid });
    await this.#mirror(kind, found, reported);
  }

  async #put(
    kind: Kind<BootConfig>,
    found: BootConfig | undefined,
    { boot, spec }: { boot: ServerBootConfiguration; spec: PublishedBootConfig['spec'] },
  ): Promise<BootConfig | undefined> {
    const { client, log } = this.#options;
    const { name, namespace } = boot.metadata;
    if (found !== undefined && isDeepStrictEqual(publishedIn(found), spec)) return found;
    const version = found === undefined ? {} : { resourceVersion: found.metadata.resourceVersion };
    const metadata = { name, namespace, ...version, ownerReferences: [ownedBy(boot)] };
    try {
      return await client.apply(kind, { metadata, spec }, { fieldManager, force: found !== undefined });
    } catch (error) {
      if (found !== undefined || !(error instanceof KubeError) || error.code !== 'NotFound') throw error;
      log.warn({ boot: keyOf(boot), kind: kind.kind }, 'not published: the CRD is not installed; see deploy/crds');
      return undefined;
    }
  }

  async #reportConflict(
    kind: Kind<BootConfig>,
    found: BootConfig,
    { boot, reported, published }: Publication,
  ): Promise<void> {
    if (givesScript(scriptable(found), boot)) return this.#mirror(kind, found, reported);
    const { uid = '' } = found.metadata;
    if (published?.kind !== kind.kind || this.#reportedConflicts.has(uid)) return;
    this.#reportedConflicts.add(uid);
    const { events, log } = this.#options;
    const note = `${kind.kind} "${found.metadata.name}" belongs to somebody else and is left alone; delete it, or other programs read of this boot what it says`;
    log.warn({ boot: keyOf(boot) }, note);
    events.record(boot, { type: 'Warning', reason: bootConfigTaken, action: 'Publish', note });
  }

  async #mirror(kind: Kind<BootConfig>, config: BootConfig, { state, conditions }: ReportedStatus): Promise<void> {
    const { name, namespace, resourceVersion } = config.metadata;
    const { status } = config;
    if (
      status?.state === state &&
      isDeepStrictEqual((status.conditions ?? []).map(comparableFields), conditions.map(comparableFields))
    )
      return;
    const mirrored = conditions.map((condition) => ({ ...condition, observedGeneration: config.metadata.generation }));
    await this.#options.client.apply(
      kind,
      { metadata: { name, namespace, resourceVersion }, status: { state, conditions: mirrored } },
      { fieldManager, subresource: 'status', force: true },
    );
  }
}

const bootConfigTaken = 'BootConfigTaken' satisfies BootServiceReason;

const publishedIn = ({ spec }: BootConfig) =>
  Object.fromEntries(Object.entries(spec ?? {}).filter(([name]) => publishedFields.includes(name)));

const comparableFields = ({ type, status, reason, message }: Condition) => [type, status, reason, message];

/** Only an IPXEBootConfig has a script. */
const scriptable = (config: BootConfig): IPXEBootConfig | undefined =>
  config.kind === IPXEBootConfig.kind ? (config as IPXEBootConfig) : undefined; // by its kind
