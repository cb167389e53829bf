import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { IronicBackEnd } from '@metal/metal3/ironic/ironic-back-end.ts';
import type { IronicOptions } from '@metal/metal3/ironic/options.ts';
import type { HostConfig, HostAccess } from '@metal/metal3/provisioner/back-end.ts';
import type { Provisioner, RegistrationData } from '@metal/metal3/provisioner/provisioner.ts';
import { done, type StepResult } from '@metal/metal3/provisioner/step-result.ts';
import { setTimeout as sleep } from 'node:timers/promises';

/** Passes follow each other sooner than in production. */
const longestPauseMs = 200;
/** A failed deployment takes Ironic a minute. */
const withinMs = 180_000;

export const ironicOptions = (endpoint: string): IronicOptions => ({
  endpoint,
  loginDirectory: undefined,
  tls: {
    caFile: undefined,
    certificateFile: undefined,
    keyFile: undefined,
    isInsecure: false,
    skipsNameVerification: false,
  },
  timeoutMs: 30_000,
  readyForMs: 0,
  ramdisk: { kernelUrl: undefined, initrdUrl: undefined, isoUrl: undefined },
  usesPreprovisioningImages: false,
  provisioningLimit: 20,
  isProvisioningNetworkDisabled: false,
  persistentBoot: { liveIso: 'Default', disk: 'Default' },
  externalUrlV6: undefined,
});

export interface IronicHostOptions {
  readonly backEnd: IronicBackEnd;
  readonly name: string;
  readonly spec: Partial<BareMetalHost['spec']> & { readonly bmc: NonNullable<BareMetalHost['spec']['bmc']> };
  readonly credentials: { readonly username: string; readonly password: string };
  readonly config?: Partial<HostConfig>;
}

const nothing = async (): Promise<undefined> => undefined;
const noConfig: HostConfig = {
  userData: nothing,
  networkData: nothing,
  metaData: nothing,
  preprovisioningNetworkData: nothing,
  imagePullSecret: nothing,
};

/** A BareMetalHost without an API server: each pass registers it, as its controller does, and then runs one operation. */
export class IronicHost {
  readonly #backEnd: IronicBackEnd;
  readonly #config: HostConfig;
  host: BareMetalHost;
  credentials: NonNullable<HostAccess['credentials']>;
  /** What the next registrations are told. */
  registration: Partial<RegistrationData> = {};
  preprovisioningImage: HostAccess['preprovisioningImage'];
  #known = '';

  constructor({ backEnd, name, spec, credentials, config = {} }: IronicHostOptions) {
    this.#backEnd = backEnd;
    this.#config = { ...noConfig, ...config };
    this.credentials = { secretName: `${name}-bmc`, version: '1', ...credentials };
    this.host = {
      apiVersion: 'metal3.io/v1alpha1',
      kind: 'BareMetalHost',
      metadata: { name, namespace: 'metal3', uid: crypto.randomUUID() },
      spec: { online: true, automatedCleaningMode: 'disabled', ...spec },
    };
  }

  /** Of the node; empty before the registration. */
  get id(): string {
    return this.host.status?.provisioning.ID ?? '';
  }

  get nodeName(): string {
    return `${this.host.metadata.namespace}~${this.host.metadata.name}`;
  }

  /** Another Secret, or another version of it. */
  setCredentials(username: string, password: string): void {
    const version = String(Number(this.credentials.version) + 1);
    this.credentials = { ...this.credentials, username, password, version };
  }

  provisioner(signal = AbortSignal.timeout(withinMs)): Promise<Provisioner> {
    const { host, credentials, preprovisioningImage } = this;
    return this.#backEnd.provisionerOf({
      host,
      credentials,
      config: this.#config,
      preprovisioningImage,
      signal,
    });
  }

  /** Passes until the registration, or an operation after it, has another result than busy. */
  async until(
    operation?: (provisioner: Provisioner) => Promise<StepResult>,
    changes: Partial<RegistrationData> = {},
  ): Promise<StepResult> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const result = await this.#pass(operation, changes);
      if (result.kind !== 'busy') return result;
      if (performance.now() > deadline) throw new Error(`${this.nodeName} is still busy`);
      await sleep(Math.min(result.delayMs, longestPauseMs));
    }
  }

  /** Like `until`, for operations that also tell whether they began. Resolves with the last answer. */
  async untilStarted<T extends { readonly result: StepResult; readonly isStarted: boolean }>(
    operation: (provisioner: Provisioner) => Promise<T>,
    changes: Partial<RegistrationData> = {},
  ): Promise<T> {
    let last: T | undefined;
    const result = await this.until(async (provisioner) => (last = await operation(provisioner)).result, changes);
    if (last === undefined)
      throw new Error(`the registration of ${this.nodeName} ended with ${JSON.stringify(result)}`);
    return last;
  }

  /** Passes of an operation alone, as for a host that is deleted. */
  async untilAlone(operation: (provisioner: Provisioner) => Promise<StepResult>): Promise<StepResult> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const result = await operation(await this.provisioner());
      if (result.kind !== 'busy') return result;
      if (performance.now() > deadline) throw new Error(`${this.nodeName} is still busy`);
      await sleep(Math.min(result.delayMs, longestPauseMs));
    }
  }

  /** Passes of an operation that stays busy, until something else is true. */
  async passUntil(
    operation: (provisioner: Provisioner) => Promise<StepResult>,
    isReached: () => Promise<boolean>,
    changes: Partial<RegistrationData> = {},
  ): Promise<void> {
    const result = await this.until(async (provisioner) => {
      const answer = await operation(provisioner);
      return answer.kind === 'busy' && (await isReached()) ? done : answer;
    }, changes);
    if (result.kind !== 'done') throw new Error(`${this.nodeName} ended with ${JSON.stringify(result)}`);
  }

  /** As if the status had not been stored. */
  forget(): void {
    const { status: _, ...host } = this.host;
    this.host = host;
  }

  async #pass(
    operation: ((provisioner: Provisioner) => Promise<StepResult>) | undefined,
    changes: Partial<RegistrationData>,
  ): Promise<StepResult> {
    const provisioner = await this.provisioner();
    const { result, id } = await provisioner.register(this.registrationData(changes));
    this.#known = this.credentials.version;
    if (id !== undefined) this.#store(id);
    return result.kind === 'done' && operation !== undefined ? operation(await this.provisioner()) : result;
  }

  registrationData(changes: Partial<RegistrationData> = {}): RegistrationData {
    const { spec } = this.host;
    return {
      hasNewCredentials: this.#known !== this.credentials.version,
      restartsAfterFailure: false,
      state: 'registering',
      operationalStatus: 'OK',
      bootMode: 'UEFI',
      cleaning: spec.automatedCleaningMode,
      architecture: 'x86_64',
      inspection: 'agent',
      disablePowerOff: spec.disablePowerOff === true,
      image: undefined,
      hasCustomDeploy: spec.customDeploy !== undefined,
      hardware: undefined,
      ...this.registration,
      ...changes,
    };
  }

  #store(ID: string): void {
    this.host = {
      ...this.host,
      status: {
        errorCount: 0,
        errorMessage: '',
        operationalStatus: 'OK',
        poweredOn: false,
        provisioning: { state: 'registering', ID },
        provisioningFailCount: 0,
      },
    };
  }
}
