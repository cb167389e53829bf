import type { DiskImage, PreparedDiskImage } from '@metal/api/common/disk-image.ts';
import type { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { BootError } from '../../errors.ts';
import type { Butane } from '../../ignition/butane.ts';
import { readConfigDrive } from '../../config-drive/config-drive.ts';
import { readIgnition } from '../../ignition/ignition.ts';
import { architectureOf } from '../../images/architecture.ts';
import { type BootPlan, wayOf } from '../../images/boot-plan.ts';
import type { DiskImages } from '../../images/disk/disk-images.ts';
import { type BootImages, preparedDigestOf } from '../../images/images.ts';
import { givesScript, readCustomScript } from '../../scripts/custom-script.ts';
import type { ValidationResult } from './validation-result.ts';

export interface BootValidatorOptions {
  readonly client: KubeClient;
  readonly servers: Cache<Server>;
  readonly images: BootImages;
  /** Undefined where nothing can be stored. */
  readonly diskImages: DiskImages | undefined;
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
      if (boot.spec.diskImage !== undefined) return await this.#validateDiskImage(boot, boot.spec.diskImage);
      const plan = await this.#inTime(boot, this.#plan(boot));
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

  async #validateDiskImage(boot: ServerBootConfiguration, image: DiskImage): Promise<ValidationResult> {
    const { client, diskImages, signal } = this.#options;
    if (diskImages === undefined) throw new BootError('CacheUnusable', 'this boot service stores no disk images');
    const { metadata, status } = boot;
    const prepared = status?.diskImage?.observedGeneration === metadata.generation ? status?.diskImage : undefined;
    // It is on the disk: image and Secrets are not needed any more.
    if (prepared !== undefined && status?.deployment?.state === 'Succeeded')
      return { state: 'Ready', diskImage: prepared };
    await readConfigDrive(boot, client, signal);
    const wanted = prepared === undefined ? image : withChecksum(image, prepared);
    const diskImage = await this.#inTime(boot, diskImages.prepare(wanted, signal));
    return diskImage === undefined ? { state: 'Pending' } : { state: 'Ready', diskImage };
  }

  /** Undefined after the timeout; the pull continues, and `onPulled` follows. */
  async #inTime<T>(boot: ServerBootConfiguration, pull: Promise<T>): Promise<T | undefined> {
    const { promise: timeout, resolve } = Promise.withResolvers<undefined>();
    using _timer = this.#options.clock.setTimeout(pullTimeoutMs, () => {
      resolve(undefined);
      const onPulled = (): void => this.#options.onPulled(boot);
      pull.then(onPulled, onPulled);
    });
    return await Promise.race([pull, timeout]);
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

/** A checksum file that changes does not change the image of a boot. */
function withChecksum(image: DiskImage, { checksum }: PreparedDiskImage): DiskImage {
  return { ...image, checksum: checksum.slice(checksum.indexOf(':') + 1), checksumType: 'auto' };
}
