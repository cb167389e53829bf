import type { ProvisioningState } from '@metal/api/metal3/bare-metal-host-status.ts';
import type { HostAccess } from '../provisioner/back-end.ts';
import type {
  Inspection,
  InspectionData,
  PowerOffData,
  PreparationData,
  Provisioner,
  ProvisioningData,
  Registration,
  RegistrationData,
  Retry,
  ServicingData,
  Started,
} from '../provisioner/provisioner.ts';
import { type CleaningMode, failed, type StepResult } from '../provisioner/step-result.ts';
import { conflictOf, isLocked } from './http/ironic-error.ts';
import type { IronicPass } from './ironic-pass.ts';
import { powerFailure } from './node/ironic-node.ts';
import type { ParsedNodeAddress } from './node/node-address.ts';
import { type NodeSession, NodeUnregistered } from './node/node-session.ts';
import { adopt } from './operations/adopt.ts';
import { hasCapacity } from './operations/capacity.ts';
import { deprovision } from './operations/deprovision.ts';
import { inspect } from './operations/inspect.ts';
import { powerOff, powerOn, readPower } from './operations/power.ts';
import { prepare } from './operations/prepare.ts';
import { provision } from './operations/provision.ts';
import { remove } from './operations/remove.ts';
import { service } from './operations/service.ts';
import type { IronicOptions } from './options.ts';
import { register } from './register/register.ts';

export interface IronicProvisionerOptions {
  readonly access: HostAccess;
  readonly session: NodeSession;
  readonly options: IronicOptions;
  readonly address: ParsedNodeAddress;
  /** Why Ironic may not have the machine; undefined: it may. */
  readonly rejection: string | undefined;
}

/** One host in Ironic. An address that cannot be parsed, or a machine that Ironic may not have, fails in `register`. */
export class IronicProvisioner implements Provisioner {
  readonly #given: IronicProvisionerOptions;

  constructor(given: IronicProvisionerOptions) {
    this.#given = given;
  }

  async register(data: RegistrationData): Promise<Registration> {
    const { rejection } = this.#given;
    if (rejection !== undefined) return { result: failed(rejection), id: undefined };
    return this.#run(
      (pass) => register(pass, data),
      (result) => ({ result, id: undefined }),
    );
  }

  async preprovisioningImageFormats(): Promise<readonly ('iso' | 'initrd')[] | undefined> {
    const { options, address } = this.#given;
    if (!options.usesPreprovisioningImages || 'problem' in address) return undefined;
    return address.address.driver.bootsIso ? ['iso', 'initrd'] : ['initrd'];
  }

  inspect(data: InspectionData): Promise<Inspection> {
    return this.#run(
      (pass) => inspect(pass, data),
      (result) => ({ result, isStarted: false, details: undefined }),
    );
  }

  readPower(): Promise<boolean | undefined> {
    return this.#run(readPower, () => undefined);
  }

  adopt(data: { readonly state: ProvisioningState } & Retry): Promise<StepResult> {
    return this.#step((pass) => adopt(pass, data));
  }

  prepare(data: PreparationData): Promise<Started> {
    return this.#run((pass) => prepare(pass, data), notStarted);
  }

  service(data: ServicingData): Promise<Started> {
    return this.#run((pass) => service(pass, data), notStarted);
  }

  provision(data: ProvisioningData): Promise<StepResult> {
    return this.#step((pass) => provision(pass, data));
  }

  deprovision(data: { readonly cleaning: CleaningMode } & Retry): Promise<StepResult> {
    return this.#step((pass) => deprovision(pass, data));
  }

  delete(): Promise<StepResult> {
    return this.#remove(false);
  }

  detach({ isForced }: { readonly isForced: boolean }): Promise<StepResult> {
    return this.#remove(isForced);
  }

  powerOn(data: { readonly isForced: boolean }): Promise<StepResult> {
    return this.#step((pass) => powerOn(pass, data));
  }

  powerOff(data: PowerOffData): Promise<StepResult> {
    return this.#step((pass) => powerOff(pass, data));
  }

  hasCapacity(): Promise<boolean> {
    return this.#run(hasCapacity, () => true);
  }

  hasPowerFailure(): boolean {
    return this.#given.session.lastSeen?.fault === powerFailure;
  }

  health(): string {
    return this.#given.session.lastSeen?.health ?? '';
  }

  #step(operation: (pass: IronicPass) => Promise<StepResult>): Promise<StepResult> {
    return this.#run(operation, (result) => result);
  }

  /** Also for a host whose address cannot be parsed. */
  #remove(isForced: boolean): Promise<StepResult> {
    const { session, access } = this.#given;
    return this.#guarded(
      () => remove({ access, session }, isForced),
      (result) => result,
    );
  }

  /** Runs an operation; `otherwise` makes its result of one that every operation can have. */
  async #run<T>(operation: (pass: IronicPass) => Promise<T>, otherwise: (result: StepResult) => T): Promise<T> {
    const { address, session, access, options } = this.#given;
    if ('problem' in address) return otherwise(failed(address.problem));
    return this.#guarded(() => operation({ access, session, options, address: address.address }), otherwise);
  }

  async #guarded<T>(operation: () => Promise<T>, otherwise: (result: StepResult) => T): Promise<T> {
    try {
      return await operation();
    } catch (error) {
      if (error instanceof NodeUnregistered) return otherwise({ kind: 'unregistered' });
      if (isLocked(error)) return otherwise(this.#given.session.delays.short(conflictOf(error)));
      throw error;
    }
  }
}

const notStarted = (result: StepResult): Started => ({ result, isStarted: false });
