import type { PreprovisioningImage } from '@metal/api/metal3/preprovisioning-image.ts';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { HardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import type { DataImage } from '@metal/api/metal3/data-image.ts';
import type { ReconcileStart } from '@metal/kube/controller/definition.ts';
import type { Metal3Context } from '../../context.ts';
import type { FoundCredentials } from '../../objects/bmc-credentials.ts';
import { type FirmwareFacts, type FirmwareObjects, hasChanges } from '../../objects/firmware-facts.ts';
import { hostConfigOf } from '../../objects/host-config.ts';
import type { BackEnd, HostAccess, HostConfigError, UsableImage } from '../../provisioner/back-end.ts';
import type { Provisioner } from '../../provisioner/provisioner.ts';
import type { HostSurroundings } from './facts.ts';
import type { HostPass } from './memory.ts';
import { hostEvent } from './status-events.ts';

/** What a pass has found around its host when it began. */
export interface FoundObjects {
  /** Undefined for a host without a BMC. */
  readonly credentials: FoundCredentials | undefined;
  readonly hardware: HardwareDetails | undefined;
  readonly firmware: FirmwareObjects;
  readonly image: PreprovisioningImage | undefined;
  readonly dataImage: DataImage | undefined;
  readonly backEnd: BackEnd;
}

/** One pass over a host in the reconcile loop: what it found, what it has done. */
export class PassRun {
  readonly pass: HostPass;
  readonly found: FoundObjects;
  firmware: FirmwareFacts;
  #provisioner: Provisioner | undefined;
  readonly #retryLimit: number;

  constructor(
    pass: HostPass,
    found: FoundObjects,
    {
      firmware,
      provisioner,
      retryLimit,
    }: { firmware: FirmwareFacts; provisioner: Provisioner | undefined; retryLimit: number },
  ) {
    this.pass = pass;
    this.found = found;
    this.firmware = firmware;
    this.#provisioner = provisioner;
    this.#retryLimit = retryLimit;
  }

  get surroundings(): HostSurroundings {
    const { credentials, dataImage } = this.found;
    return {
      credentials: credentials === undefined || 'problem' in credentials ? 'unusable' : 'present',
      firmware: this.firmware.firmware,
      hasServicing: hasChanges(this.firmware.servicing),
      hasServicingSpec: this.firmware.hasServicingSpec,
      hasDataImage: dataImage !== undefined,
      retryLimit: this.#retryLimit,
    };
  }

  /** The table asks for nothing of a back end before there are credentials, or a deletion. */
  get provisioner(): Provisioner {
    if (this.#provisioner === undefined) throw new TypeError('a host without credentials has no provisioner');
    return this.#provisioner;
  }

  replaceProvisioner(provisioner: Provisioner): void {
    this.#provisioner = provisioner;
  }

  get credentialProblem(): string | undefined {
    const { credentials } = this.found;
    return credentials !== undefined && 'problem' in credentials ? credentials.problem : undefined;
  }
}

type Start = ReconcileStart<BareMetalHost, Metal3Context>;

/** The access of a back end to one host. */
export function accessOf(
  host: BareMetalHost,
  { context, signal, recordEvent }: Pick<Start, 'context' | 'signal' | 'recordEvent'>,
  { credentials, image }: { credentials: FoundCredentials | undefined; image: UsableImage | undefined },
): HostAccess {
  const { client, caches, hostMetrics } = context;
  const onProblem = ({ what, event, message }: HostConfigError) => {
    hostMetrics.count('hostConfigErrors', { host_data_type: what });
    if (event !== undefined) recordEvent(hostEvent(host, event, message));
  };
  return {
    host,
    credentials: credentials === undefined || 'problem' in credentials ? undefined : credentials,
    config: hostConfigOf(host, { client, secrets: caches.secrets }, onProblem),
    preprovisioningImage: image,
    signal,
  };
}
