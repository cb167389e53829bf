import type { HardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import type { Inspection, Provisioner, Registration, Started } from '../../src/provisioner/provisioner.ts';
import { done, type StepResult } from '../../src/provisioner/step-result.ts';

type Call =
  | 'register'
  | 'inspect'
  | 'adopt'
  | 'prepare'
  | 'service'
  | 'provision'
  | 'deprovision'
  | 'delete'
  | 'detach'
  | 'powerOn'
  | 'powerOff';

export interface Script {
  /** Default: done. An error is thrown. */
  readonly results?: Readonly<Partial<Record<Call, StepResult | Error>>>;
  readonly id?: string;
  readonly power?: boolean | undefined;
  readonly hasCapacity?: boolean;
  readonly details?: HardwareDetails;
  /** Of inspections, preparations and servicings. */
  readonly isStarted?: boolean;
}

/** For tests: a back end with prescribed answers. */
export class ScriptedProvisioner implements Provisioner {
  readonly calls: string[] = [];
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
  }

  async register(): Promise<Registration> {
    return { result: this.#answer('register'), id: this.#script.id };
  }

  async preprovisioningImageFormats(): Promise<undefined> {
    return undefined;
  }

  async inspect(): Promise<Inspection> {
    const { isStarted = false, details } = this.#script;
    return { result: this.#answer('inspect'), isStarted, details };
  }

  async readPower(): Promise<boolean | undefined> {
    return this.#script.power;
  }

  adopt = async (): Promise<StepResult> => this.#answer('adopt');
  prepare = async (): Promise<Started> => this.#started('prepare');
  service = async ({ hasFirmwareSpec }: { hasFirmwareSpec: boolean }): Promise<Started> =>
    this.#started('service', hasFirmwareSpec ? 'service' : 'service nothing');
  provision = async (): Promise<StepResult> => this.#answer('provision');
  deprovision = async (): Promise<StepResult> => this.#answer('deprovision');
  delete = async (): Promise<StepResult> => this.#answer('delete');
  powerOn = async (): Promise<StepResult> => this.#answer('powerOn');

  async detach({ isForced }: { isForced: boolean }): Promise<StepResult> {
    return this.#answer('detach', isForced ? 'detach forced' : 'detach');
  }

  async powerOff({ mode }: { mode: string }): Promise<StepResult> {
    return this.#answer('powerOff', `powerOff ${mode}`);
  }

  async hasCapacity(): Promise<boolean> {
    return this.#script.hasCapacity ?? true;
  }

  hasPowerFailure = (): boolean => false;
  health = (): string => '';

  #started(call: 'prepare' | 'service', text?: string): Started {
    return { result: this.#answer(call, text), isStarted: this.#script.isStarted ?? false };
  }

  #answer(call: Call, text: string = call): StepResult {
    this.calls.push(text);
    const answer = this.#script.results?.[call] ?? done;
    if (answer instanceof Error) throw answer;
    return answer;
  }
}
