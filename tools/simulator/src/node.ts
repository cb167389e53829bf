import type { SimulatedBmc } from './bmc.ts';
import type { BootRecord, Machine, MachineRequest, Power, Running } from './machine.ts';
import type { Vendor } from './profiles.ts';
import type { SerialConsole } from './qemu/serial-console.ts';

/** One BMC with the machine behind it, or with several. What is asked here is asked of the first machine. */
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

  /** Every step of every start, in words. */
  get bootLog(): readonly string[] {
    return this.machine.bootLog;
  }

  /** Every start: what it was told to boot from, and what came of it. */
  get boots(): readonly Readonly<BootRecord>[] {
    return this.machine.boots;
  }

  /** What the machine says on its serial line. @throws TypeError for a simulated one. */
  get serial(): SerialConsole {
    const { serial } = this.machine;
    if (serial === undefined) throw new TypeError('a simulated machine has no serial line; add one in QEMU');
    return serial;
  }

  get running(): Running | undefined {
    return this.machine.running;
  }

  /** What the machine asked the network for. */
  get requests(): readonly MachineRequest[] {
    return this.machine.requests;
  }

  /**
   * Resolves when the condition holds; looked at after each change of the machine. Rejects with the signal's reason:
   * nothing here waits for ever on its own account.
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
