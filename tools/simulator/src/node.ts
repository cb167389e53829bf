import type { SimulatedBmc } from './bmc.ts';
import type { BootRecord, Machine, MachineRequest, Power, Running } from './machine.ts';
import type { Vendor } from './profiles.ts';
import type { SerialConsole } from './qemu/serial-console.ts';

/** One BMC with its machine, or with several. Members without `machines` concern the first machine. */
export class Node {
  readonly name: string;
  readonly vendor: Vendor;
  readonly bmc: SimulatedBmc;

  constructor(name: string, vendor: Vendor, bmc: SimulatedBmc) {
    this.name = name;
    this.vendor = vendor;
    this.bmc = bmc;
  }

  get machine(): Machine {
    return this.bmc.machine;
  }

  get machines(): readonly Machine[] {
    return this.bmc.machines;
  }

  get uuid(): string {
    return this.machine.hardware.uuid;
  }

  get power(): Power {
    return this.machine.power;
  }

  /** On and Off, in the order they were reached. */
  get powerLog(): readonly ('On' | 'Off')[] {
    return this.machine.powerLog;
  }

  /** Every step of every start, as text. */
  get bootLog(): readonly string[] {
    return this.machine.bootLog;
  }

  /** Every start, with its override and its outcome. */
  get boots(): readonly Readonly<BootRecord>[] {
    return this.machine.boots;
  }

  /** The serial console of the machine. @throws TypeError for a simulated one. */
  get serial(): SerialConsole {
    const { serial } = this.machine;
    if (serial === undefined) throw new TypeError('a simulated machine has no serial line; add one in QEMU');
    return serial;
  }

  get running(): Running | undefined {
    return this.machine.running;
  }

  /** Network requests of the machine. */
  get requests(): readonly MachineRequest[] {
    return this.machine.requests;
  }

  /**
   * Resolves when the condition holds, checked after each change of the machine. Rejects with the signal's reason.
   */
  async until(condition: (node: Node) => boolean, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const check = () => condition(this) && resolve();
    const onAbort = () => reject(signal.reason);
    using _watch = this.machine.onChange(check);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    check();
    await promise.finally(() => signal.removeEventListener('abort', onAbort));
  }
}
