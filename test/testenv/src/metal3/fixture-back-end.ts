import { EventEmitter, once } from 'node:events';
import type { HardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { BackEnd, HostAccess } from '@metal/metal3/provisioner/back-end.ts';
import type { NodeServices } from '@metal/metal3/provisioner/node-services.ts';
import type { Provisioner, RegistrationData } from '@metal/metal3/provisioner/provisioner.ts';
import { busy, done, failed, type StepResult } from '@metal/metal3/provisioner/step-result.ts';
import { FixtureServices } from './fixture-services.ts';

export type FixtureOperation =
  | 'register'
  | 'inspect'
  | 'prepare'
  | 'provision'
  | 'adopt'
  | 'deprovision'
  | 'service'
  | 'abortService'
  | 'powerOn'
  | 'powerOff'
  | 'restart'
  | 'delete'
  | 'detach';

/** A machine that only exists in memory, as it survives a restart of the operator. */
export interface FixtureMachine {
  /** URL of the image on its disk. */
  image: string | undefined;
  isOn: boolean;
  /** Nothing was written to its disk since it was erased. */
  isErased: boolean;
  /** Its hardware is known since its registration. */
  isInspected: boolean;
  /** It is registered; the ID of the node. */
  nodeId: string | undefined;
  /** Operations that were started, in order; a repetition while it is busy counts once. */
  readonly started: FixtureOperation[];
  /** Time of the clock at which the present operation ends. */
  running: { readonly operation: FixtureOperation; readonly endsAt: number } | undefined;
}

/** What an operation does instead of what it should: a failure that lasts, or an error that may pass. */
export type FixtureFault = { readonly failure: string } | { readonly error: Error };

export interface FixtureBackEndOptions {
  readonly clock: Clock;
  /** Duration of each operation, in milliseconds of the clock. */
  readonly operationMs: number;
}

/** A back end whose machines are in memory. Faults and answers are settable at any time. */
export class FixtureBackEnd implements BackEnd {
  readonly name = 'native';
  readonly #options: FixtureBackEndOptions;
  readonly #machines = new Map<string, FixtureMachine>();
  readonly #faults = new Map<string, FixtureFault>();
  /** Passwords that the BMC of a host accepts; by default any. */
  readonly #passwords = new Map<string, string>();
  readonly #calls = new EventEmitter();
  #nodes = 0;
  /** Operations on the disk at once; undefined: no limit. */
  capacity: number | undefined;
  /** Thrown instead of a provisioner. */
  notReady: Error | undefined;
  readonly services = new FixtureServices();

  constructor(options: FixtureBackEndOptions) {
    this.#options = options;
  }

  machine(name: string): FixtureMachine {
    const key = `default/${name}`;
    const machine = this.#machines.get(key) ?? {
      image: undefined,
      isOn: false,
      isErased: true,
      isInspected: false,
      nodeId: undefined,
      started: [],
      running: undefined,
    };
    this.#machines.set(key, machine);
    return machine;
  }

  fail(name: string, operation: FixtureOperation, fault: FixtureFault): void {
    this.#faults.set(`${name}/${operation}`, fault);
  }

  repair(name: string, operation: FixtureOperation): void {
    this.#faults.delete(`${name}/${operation}`);
  }

  /** Resolves at the next call of the operation for the host, or at the next pass over it. */
  async untilCalled(name: string, call: FixtureOperation | 'provisionerOf'): Promise<void> {
    await once(this.#calls, `${name}/${call}`);
  }

  acceptOnly(name: string, password: string): void {
    this.#passwords.set(name, password);
  }

  /** Whether the back end may work on the host, too. */
  hasCapacityFor(machine: FixtureMachine): boolean {
    const busyMachines = [...this.#machines.values()].filter(({ running }) => running !== undefined);
    return this.capacity === undefined || busyMachines.includes(machine) || busyMachines.length < this.capacity;
  }

  async provisionerOf(access: HostAccess): Promise<Provisioner> {
    this.#calls.emit(`${access.host.metadata.name}/provisionerOf`);
    if (this.notReady !== undefined) throw this.notReady;
    return new FixtureProvisioner(access, this);
  }

  async servicesOf(): Promise<NodeServices> {
    return this.services;
  }

  /** One call of an operation: it starts, goes on, or has ended. */
  async run(name: string, operation: FixtureOperation, end: (machine: FixtureMachine) => void): Promise<StepResult> {
    this.#calls.emit(`${name}/${operation}`);
    const fault = this.#faults.get(`${name}/${operation}`);
    const machine = this.machine(name);
    if (fault !== undefined && 'error' in fault) throw fault.error;
    if (fault !== undefined) {
      machine.running = undefined;
      return failed(fault.failure);
    }
    const { clock, operationMs } = this.#options;
    if (machine.running?.operation !== operation) {
      machine.started.push(operation);
      machine.running = { operation, endsAt: clock.now() + operationMs };
    }
    const remainingMs = machine.running.endsAt - clock.now();
    if (remainingMs > 0) return busy(remainingMs);
    machine.running = undefined;
    end(machine);
    return done;
  }

  register({ host, credentials }: HostAccess): StepResult & { readonly id?: string } {
    const { name } = host.metadata;
    this.#calls.emit(`${name}/register`);
    const machine = this.machine(name);
    const fault = this.#faults.get(`${name}/register`);
    if (fault !== undefined && 'error' in fault) throw fault.error;
    if (fault !== undefined) return failed(fault.failure);
    const password = this.#passwords.get(name);
    if (password !== undefined && password !== credentials?.password) return failed('the BMC rejects the login');
    if (machine.nodeId === undefined) {
      machine.started.push('register');
      machine.nodeId = `node-${(this.#nodes += 1)}`;
    }
    return { ...done, id: machine.nodeId };
  }
}

const hardware: HardwareDetails = {
  systemVendor: { manufacturer: 'Fixture', productName: 'Machine', serialNumber: '1' },
  ramMebibytes: 131_072,
  cpu: { arch: 'x86_64', count: 8 },
  nics: [{ name: 'eth0', mac: '00:00:5e:00:53:01', ip: '192.0.2.10' }],
  storage: [{ name: '/dev/sda', sizeBytes: 500_000_000_000 }],
  hostname: 'fixture',
};

class FixtureProvisioner implements Provisioner {
  readonly #access: HostAccess;
  readonly #backEnd: FixtureBackEnd;

  constructor(access: HostAccess, backEnd: FixtureBackEnd) {
    this.#access = access;
    this.#backEnd = backEnd;
  }

  async register(_data: RegistrationData) {
    const { id, ...result } = this.#backEnd.register(this.#access);
    return { result, id };
  }

  async preprovisioningImageFormats() {
    return undefined;
  }

  async inspect({ isRefresh }: { readonly isRefresh: boolean }) {
    const machine = this.#machine;
    if (isRefresh) machine.isInspected = false;
    const result = machine.isInspected
      ? done
      : await this.#run('inspect', () => Object.assign(machine, { isInspected: true }));
    return { result, isStarted: true, details: result.kind === 'done' ? hardware : undefined };
  }

  async readPower() {
    return this.#machine.isOn;
  }

  adopt = (): Promise<StepResult> => this.#unlessRegistered();

  async prepare({ isUnprepared }: { readonly isUnprepared: boolean }) {
    const isBusy = this.#machine.running?.operation === 'prepare';
    if (!isUnprepared && !isBusy) return { result: done, isStarted: true };
    return { result: await this.#run('prepare'), isStarted: true };
  }

  async service({ isUnprepared, hasFirmwareSpec }: { isUnprepared: boolean; hasFirmwareSpec: boolean }) {
    const isRunning = this.#machine.running?.operation === 'service';
    if (!hasFirmwareSpec && isRunning) return { result: await this.#run('abortService'), isStarted: false };
    if (!isUnprepared && !isRunning) return { result: done, isStarted: false };
    return { result: await this.#run('service'), isStarted: isUnprepared };
  }

  async provision({ image }: { readonly image: { readonly url: string } | undefined }) {
    // A back end reads them once it writes the image and its config drive.
    await this.#access.config.userData();
    await this.#access.config.imagePullSecret();
    const machine = this.#machine;
    if (image !== undefined && machine.image === image.url) return done;
    machine.isErased = false;
    return this.#run('provision', () => Object.assign(machine, { image: image?.url, isOn: true }));
  }

  async deprovision() {
    const { isErased, image, running } = this.#machine;
    // An operation that has ended is not repeated, as the caller may have missed its end.
    if (isErased && image === undefined && running === undefined) return done;
    return this.#run('deprovision', (machine) =>
      Object.assign(machine, { image: undefined, isOn: false, isErased: true }),
    );
  }

  delete = () => this.#remove('delete');
  detach = () => this.#remove('detach');
  powerOn = () => this.#power('powerOn', true);
  /** A machine that nobody may power off is restarted. */
  powerOff = () =>
    this.#access.host.spec.disablePowerOff === true ? this.#run('restart') : this.#power('powerOff', false);

  async hasCapacity() {
    return this.#backEnd.hasCapacityFor(this.#machine);
  }

  hasPowerFailure = (): boolean => false;
  health = (): string => 'OK';

  get #machine(): FixtureMachine {
    return this.#backEnd.machine(this.#name);
  }

  get #name(): string {
    return this.#access.host.metadata.name;
  }

  #run(operation: FixtureOperation, end: (machine: FixtureMachine) => void = () => undefined): Promise<StepResult> {
    return this.#backEnd.run(this.#name, operation, end);
  }

  async #unlessRegistered(): Promise<StepResult> {
    return this.#machine.nodeId === undefined ? { kind: 'unregistered' } : done;
  }

  async #power(operation: 'powerOn' | 'powerOff', isOn: boolean): Promise<StepResult> {
    return this.#machine.isOn === isOn ? done : this.#run(operation, (machine) => Object.assign(machine, { isOn }));
  }

  async #remove(operation: 'delete' | 'detach'): Promise<StepResult> {
    if (this.#machine.nodeId === undefined) return done;
    return this.#run(operation, (machine) => Object.assign(machine, { nodeId: undefined, isInspected: false }));
  }
}
