import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { OperatorError } from '@metal/kube/errors.ts';
import type { NodeServices } from './node-services.ts';
import type { Provisioner } from './provisioner.ts';

/** A system that provisions hosts: our own objects (native), or Ironic. */
export interface BackEnd {
  readonly name: 'native' | 'ironic';
  /** A provisioner for one pass. @throws BackEndNotReady */
  provisionerOf(access: HostAccess): Promise<Provisioner>;
  /** Its services have their answers at hand, and may be asked in every pass. */
  readonly servicesAreCheap?: boolean;
  /** What the controllers of the sibling kinds need. @throws BackEndNotReady */
  servicesOf(host: BareMetalHost): Promise<NodeServices>;
  /** Calls back with the key of each host whose machine has news. Absent: the back end has to be asked. */
  onChange?(enqueue: (hostKey: string) => void): Disposable;
}

/** The back end answers nobody at present. The pass is repeated after a pause, without a change of the status. */
export class BackEndNotReady extends OperatorError {
  constructor(message: string, cause?: unknown) {
    super({ code: 'BackEndNotReady', message, retry: 'later', cause });
  }
}

/** One host, and what other objects say about it. */
export interface HostAccess {
  readonly host: BareMetalHost;
  /** Undefined while a host is deleted whose Secret is missing or unusable. */
  readonly credentials: BmcCredentials | undefined;
  readonly config: HostConfig;
  /** Undefined: PreprovisioningImages are not used, or the one of the host is not usable yet. */
  readonly preprovisioningImage: UsableImage | undefined;
  readonly signal: AbortSignal;
}

/** Of the Secret of the host, without surrounding white space. */
export interface BmcCredentials {
  readonly secretName: string;
  readonly username: string;
  readonly password: string;
  /** resourceVersion of the Secret. */
  readonly version: string;
}

/**
 * Data for the config drive, from Secrets in the namespace of the host, read on demand. Undefined: not wanted.
 * Each throws HostConfigError for a Secret without the data, or of another namespace.
 */
export interface HostConfig {
  userData(): Promise<string | undefined>;
  /** The network data of the installed system; without them those of the ramdisk. */
  networkData(): Promise<string | undefined>;
  metaData(): Promise<string | undefined>;
  /** Network data of the ramdisk. */
  preprovisioningNetworkData(): Promise<string | undefined>;
  /** Credentials of the registry of an oci:// image, as user:password. */
  imagePullSecret(): Promise<string | undefined>;
}

/** A Secret for the config drive that cannot be used. The message names it, never its content. */
export class HostConfigError extends Error {
  readonly what: 'userData' | 'networkData' | 'metaData' | 'preprovisioningNetworkData' | 'imagePullSecret';
  /** Reason of the event that Metal3 has for it. */
  readonly event: 'ImageAuthFormatUnsupported' | 'ImageAuthParseError' | undefined;

  constructor(what: HostConfigError['what'], message: string, event?: HostConfigError['event']) {
    super(message);
    this.what = what;
    this.event = event;
  }
}

/** A ramdisk that a PreprovisioningImage offers. */
export interface UsableImage {
  readonly format: 'iso' | 'initrd';
  readonly imageUrl: string;
  /** Of an initrd. */
  readonly kernelUrl: string | undefined;
  readonly extraKernelParams: string | undefined;
}
