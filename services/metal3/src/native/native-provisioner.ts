import type { ProvisioningState } from '@metal/api/metal3/bare-metal-host-status.ts';
import type { HardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { operationAnnotation, operations } from '@metal/api/wire/contract.ts';
import type {
  Inspection,
  InspectionData,
  PowerOffData,
  PreparationData,
  Provisioner,
  ProvisioningData,
  Registration,
  RegistrationData,
  ServicingData,
  Started,
} from '../provisioner/provisioner.ts';
import { type CleaningMode, done, failed, type StepResult } from '../provisioner/step-result.ts';
import { adoptHost } from './adoption.ts';
import { deprovisionHost, provisionHost } from './deployment.ts';
import { applyFirmware, dropFirmware, endFirmware, forgetPublished } from './firmware.ts';
import { hardwareOfServer } from './hardware-of-server.ts';
import { explained } from './host-objects.ts';
import { type NativePass, objectsOf, waiting, writeServer } from './native-pass.ts';
import { powerHost, powerOf, restartHost } from './power.ts';
import { registerHost } from './registration.ts';
import { detachHost, removeHost } from './removal.ts';

/** One host on our own objects. Every call reads the caches, writes at most one object, and returns at once. */
export class NativeProvisioner implements Provisioner {
  readonly #pass: NativePass;

  constructor(pass: NativePass) {
    this.#pass = pass;
  }

  async register(data: RegistrationData): Promise<Registration> {
    const registration = await registerHost(this.#pass, data);
    if (registration.result.kind === 'done') await forgetPublished(this.#pass);
    return registration;
  }

  async preprovisioningImageFormats(): Promise<undefined> {
    return undefined;
  }

  /** The discovery of the Server. */
  async inspect({ isRefresh, restartsAfterFailure }: InspectionData): Promise<Inspection> {
    const { server } = objectsOf(this.#pass);
    if (server === undefined) return { result: { kind: 'unregistered' }, isStarted: false, details: undefined };
    const { state } = server.status ?? {};
    if (isRefresh && state === 'Available') return this.#request(server, operations.rediscover);
    if (state === 'Error' && restartsAfterFailure) return this.#request(server, operations.retry);
    if (state === 'Error') return inspected(failed(`the discovery failed: ${explained(server, 'Ready')}`));
    const isRequested = server.metadata.annotations?.[operationAnnotation] !== undefined;
    if (state !== 'Available' || isRequested) return inspected(waiting(explained(server, 'Ready')));
    const report = this.#pass.caches.inventories.get(server.metadata.name)?.spec.report;
    if (report === undefined) return inspected(waiting('the report of the discovery is awaited'));
    return inspected(done, hardwareOfServer(server, report));
  }

  async readPower(): Promise<boolean | undefined> {
    return powerOf(this.#pass);
  }

  adopt({ state }: { readonly state: ProvisioningState }): Promise<StepResult> {
    return adoptHost(this.#pass, state);
  }

  async prepare({ raid, firmware, ...retry }: PreparationData): Promise<Started> {
    const volumes = [...(raid?.hardwareRAIDVolumes ?? []), ...(raid?.softwareRAIDVolumes ?? [])];
    if (volumes.length > 0)
      return { result: failed('the native provisioner configures no RAID: remove spec.raid'), isStarted: false };
    return startedBy(await applyFirmware(this.#pass, firmware, retry));
  }

  async service({ firmware, ...retry }: ServicingData): Promise<Started> {
    return startedBy(await applyFirmware(this.#pass, firmware, retry));
  }

  provision(data: ProvisioningData): Promise<StepResult> {
    return provisionHost(this.#pass, data);
  }

  async deprovision({ cleaning }: { readonly cleaning: CleaningMode }): Promise<StepResult> {
    return (await endFirmware(this.#pass)) ?? deprovisionHost(this.#pass, cleaning);
  }

  async delete(): Promise<StepResult> {
    return (await dropFirmware(this.#pass)) ?? removeHost(this.#pass);
  }

  async detach(): Promise<StepResult> {
    return (await endFirmware(this.#pass)) ?? detachHost(this.#pass);
  }

  powerOn(): Promise<StepResult> {
    return powerHost(this.#pass, 'On');
  }

  powerOff(data: PowerOffData): Promise<StepResult> {
    const { spec } = this.#pass.access.host;
    return spec.disablePowerOff === true ? restartHost(this.#pass, data) : powerHost(this.#pass, 'Off');
  }

  /** The operator limits discoveries and cleanups itself. */
  async hasCapacity(): Promise<boolean> {
    return true;
  }

  hasPowerFailure(): boolean {
    return objectsOf(this.#pass).bmc?.status?.state === 'Error';
  }

  health(): string {
    const { server } = objectsOf(this.#pass);
    const condition = server?.status?.conditions?.find(({ type }) => type === 'Healthy');
    if (condition === undefined || condition.status === 'Unknown') return '';
    return condition.status === 'True' ? 'OK' : condition.reason === 'Warning' ? 'Warning' : 'Critical';
  }

  async #request(server: Server, operation: string): Promise<Inspection> {
    const patch = { metadata: { annotations: { [operationAnnotation]: operation } } };
    const result = await writeServer(this.#pass, server, patch);
    return { result, isStarted: true, details: undefined };
  }
}

/** Updates count as started when they are done: until then they are wanted, and what is not wanted any more is given up. */
const startedBy = (result: StepResult): Started => ({ result, isStarted: result.kind === 'done' });

const inspected = (result: StepResult, details?: HardwareDetails): Inspection => ({
  result,
  isStarted: false,
  details,
});
