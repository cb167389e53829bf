import type { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { BootError } from '../../errors.ts';
import type { Butane } from '../../ignition/butane.ts';
import { readIgnition } from '../../ignition/ignition.ts';
import { architectureOf } from '../../images/architecture.ts';
import { type BootPlan, wayOf } from '../../images/boot-plan.ts';
import { type BootImages, preparedDigestOf } from '../../images/images.ts';
import { givesScript, readCustomScript } from '../../scripts/custom-script.ts';
import type { ValidationResult } from './validation-result.ts';

export interface BootValidatorOptions {
  readonly client: KubeClient;
  readonly servers: Cache<Server>;
  readonly images: BootImages;
  readonly butane: Butane;
  readonly ipxeBootConfigs: Cache<IPXEBootConfig>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called when a pull that exceeded the timeout has ended. */
  readonly onPulled: (boot: ServerBootConfiguration) => void;
}

/** A pull may take minutes, and must not delay boots whose images are on disk. */
const pullTimeoutMs = 3_000;

/** Checks whether machines can boot a boot configuration: image, ignition and script. */
export class BootValidator {
  readonly #options: BootValidatorOptions;

  constructor(options: BootValidatorOptions) {
    this.#options = options;
  }

  async validate(boot: ServerBootConfiguration): Promise<ValidationResult> {
    try {
      const plan = await this.#planInTime(boot);
      if (plan === undefined) return { state: 'Pending' };
      await readIgnition(boot, this.#options, this.#options.signal);
      return { state: 'Ready', plan: await this.#withScript(boot, plan) };
    } catch (error) {
      if (error instanceof BootError) return { state: 'Error', error };
      throw error;
    }
  }

  /** A custom script is an iPXE script, whatever the image contains. @throws BootError */
  async #withScript(boot: ServerBootConfiguration, plan: BootPlan): Promise<BootPlan> {
    const { client, ipxeBootConfigs, servers } = this.#options;
    const config = ipxeBootConfigs.get(boot.metadata);
    if (!givesScript(config, boot)) return plan;
    const server = servers.get(boot.spec.serverRef.name);
    await readCustomScript(config, server?.spec.systemUUID, client, this.#options.signal);
    return { ...plan, method: 'iPXE', methods: ['iPXE'], script: config.spec?.ipxeScriptSecretRef?.name };
  }

  /** Undefined after the timeout; the pull continues, and `onPulled` follows. */
  async #planInTime(boot: ServerBootConfiguration): Promise<BootPlan | undefined> {
    const plan = this.#plan(boot);
    const { promise: timeout, resolve } = Promise.withResolvers<undefined>();
    using _timer = this.#options.clock.setTimeout(pullTimeoutMs, () => {
      resolve(undefined);
      const onPulled = (): void => this.#options.onPulled(boot);
      plan.then(onPulled, onPulled);
    });
    return await Promise.race([plan, timeout]);
  }

  /** Keeps the digest that was prepared before: a tag that moves does not change the image of a boot. */
  async #plan(boot: ServerBootConfiguration): Promise<BootPlan> {
    const { images, servers } = this.#options;
    const server = servers.get(boot.spec.serverRef.name);
    const architecture = architectureOf(server);
    const way = wayOf(boot, server);
    const digest = preparedDigestOf(boot);
    try {
      return await images.check(boot.spec.image, this.#options.signal, { architecture, digest }, way);
    } catch (error) {
      const isGone = error instanceof BootError && error.code === 'ImageMissing' && digest !== undefined;
      if (!isGone) throw error;
      return images.check(boot.spec.image, this.#options.signal, { architecture }, way);
    }
  }
}
