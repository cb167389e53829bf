import { isDeepStrictEqual } from 'node:util';
import { HTTPBootConfig } from '@metal/api/v1alpha1/http-boot-config.ts';
import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Cache } from '@metal/kube/cache.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { EventRecorder } from '@metal/kube/events.ts';
import { type Condition, controllerOf, type Kind, keyOf, ownedBy } from '@metal/kube/kind.ts';
import type { Logger } from 'pino';
import type { BootPlan } from './boot-plan.ts';
import { givesScript } from './custom-script.ts';
import { type PublishedBootConfig, publishedFields, publishedOf } from './published-boot-config.ts';
import type { BootServiceReason } from './reasons.ts';

type BootConfig = IPXEBootConfig | HTTPBootConfig;

export interface BootConfigsOptions {
  client: KubeClient;
  /** Those of people are found here. */
  ipxeBootConfigs: Cache<IPXEBootConfig>;
  /** Whether other programs are to find one of each prepared boot. */
  publishes: boolean;
  publicUrl: () => string;
  events: EventRecorder;
  log: Logger;
}

/** What was said about a boot configuration. */
export interface Said {
  readonly state: 'Ready' | 'Pending' | 'Error';
  readonly conditions: readonly Condition[];
  readonly plan?: BootPlan | undefined;
}

interface News {
  readonly boot: ServerBootConfiguration;
  readonly said: Said;
  readonly published: PublishedBootConfig | undefined;
}

const kinds: readonly Kind<BootConfig>[] = [IPXEBootConfig, HTTPBootConfig];
const fieldManager = 'metal-operator/boot';

/**
 * Repeats on the kinds of boot.ironcore.dev what was said about a boot configuration.
 *
 *   ServerBootConfiguration ──owns──► IPXEBootConfig or HTTPBootConfig of its name    where they are published: all of it
 *                           ─ ─ ─ ─ ► IPXEBootConfig that gives the boot a script     its status only: the rest is a person's
 *
 * An object of that name that somebody else made for something else is left alone, and that is told.
 */
export class BootConfigs {
  readonly #options: BootConfigsOptions;
  /** UIDs of the objects of others that were told of. */
  readonly #toldOf = new Set<string>();

  constructor(options: BootConfigsOptions) {
    this.#options = options;
  }

  async repeat(boot: ServerBootConfiguration, server: Server | undefined, said: Said): Promise<void> {
    const { ipxeBootConfigs, publishes, publicUrl } = this.#options;
    if (publishes) {
      const published = said.plan && server && publishedOf(boot, server, said.plan, publicUrl());
      for (const kind of kinds) await this.#publish(kind, { boot, said, published });
      return;
    }
    const config = ipxeBootConfigs.get(boot.metadata);
    if (givesScript(config, boot)) await this.#mirror(IPXEBootConfig, config, said);
  }

  async #publish(kind: Kind<BootConfig>, news: News): Promise<void> {
    const { client } = this.#options;
    const { boot, said, published } = news;
    const { name, namespace } = boot.metadata;
    const found = await client.find(kind, { name, namespace });
    if (found !== undefined && controllerOf(found)?.uid !== boot.metadata.uid)
      return this.#leaveAlone(kind, found, news);
    if (published?.kind === kind.kind) {
      const config = await this.#put(kind, found, { boot, spec: published.spec });
      return config && this.#mirror(kind, config, said);
    }
    if (found === undefined) return;
    // It boots another way by now.
    if (said.plan !== undefined && !givesScript(scriptable(found), boot))
      return client.delete(kind, found.metadata, { uid: found.metadata.uid });
    await this.#mirror(kind, found, said);
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
      log.warn({ boot: keyOf(boot), kind: kind.kind }, 'not published: the kind is not installed; see deploy/crds');
      return undefined;
    }
  }

  async #leaveAlone(kind: Kind<BootConfig>, found: BootConfig, { boot, said, published }: News): Promise<void> {
    if (givesScript(scriptable(found), boot)) return this.#mirror(kind, found, said);
    const { uid = '' } = found.metadata;
    if (published?.kind !== kind.kind || this.#toldOf.has(uid)) return;
    this.#toldOf.add(uid);
    const { events, log } = this.#options;
    const note = `${kind.kind} "${found.metadata.name}" belongs to somebody else and is left alone; delete it, or other programs read of this boot what it says`;
    log.warn({ boot: keyOf(boot) }, note);
    events.record(boot, { type: 'Warning', reason: bootConfigTaken, action: 'Publish', note });
  }

  async #mirror(kind: Kind<BootConfig>, config: BootConfig, { state, conditions }: Said): Promise<void> {
    const { name, namespace, resourceVersion } = config.metadata;
    const { status } = config;
    if (status?.state === state && isDeepStrictEqual((status.conditions ?? []).map(wordsOf), conditions.map(wordsOf)))
      return;
    const about = conditions.map((condition) => ({ ...condition, observedGeneration: config.metadata.generation }));
    await this.#options.client.apply(
      kind,
      { metadata: { name, namespace, resourceVersion }, status: { state, conditions: about } },
      { fieldManager, subresource: 'status', force: true },
    );
  }
}

const bootConfigTaken = 'BootConfigTaken' satisfies BootServiceReason;

const publishedIn = ({ spec }: BootConfig) =>
  Object.fromEntries(Object.entries(spec ?? {}).filter(([name]) => publishedFields.includes(name)));

const wordsOf = ({ type, status, reason, message }: Condition) => [type, status, reason, message];

/** Only IPXEBootConfigs have scripts. */
const scriptable = (config: BootConfig): IPXEBootConfig | undefined =>
  config.kind === IPXEBootConfig.kind ? (config as IPXEBootConfig) : undefined; // its kind says so
