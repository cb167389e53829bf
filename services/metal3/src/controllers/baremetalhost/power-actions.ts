import { saveFirmware } from './firmware-progress.ts';
import { powerOffMode, requestedReboot } from './power.ts';
import { clearedStatus } from './status-changes.ts';
import { type HostWork, record, withoutError } from './work.ts';

const isPowerError = ({ pass }: HostWork): boolean => pass.status.errorType === 'power management error';

export const powerActions = {
  async readPower(work: HostWork): Promise<void> {
    const { pass, outcomes, provisioner } = work;
    const isOn = await provisioner.readPower();
    const isOther = isOn !== undefined && isOn !== pass.status.poweredOn;
    if (isOther) pass.status = { ...(isPowerError(work) ? withoutError(pass.status) : pass.status), poweredOn: isOn };
    outcomes.readPower = { kind: isOther ? 'changed' : 'done' };
  },

  async powerOn(work: HostWork): Promise<void> {
    record(work, 'powerOn', await work.provisioner.powerOn({ isForced: isPowerError(work) }), 'power management error');
    settle(work, 'powerOn');
  },

  async powerOff(work: HostWork): Promise<void> {
    const { facts, host, provisioner } = work;
    const mode = powerOffMode(facts);
    const cleaning = host.spec.automatedCleaningMode;
    const result = await provisioner.powerOff({ mode, isForced: isPowerError(work), cleaning });
    const isFirst = result.kind === 'failed' && mode === 'soft';
    const message = isFirst ? `soft power-off failed, a hard one follows: ${result.message}` : '';
    record(work, 'powerOff', isFirst ? { ...result, message } : result, 'power management error');
    settle(work, 'powerOff');
  },

  async powerOffForDeletion(work: HostWork): Promise<void> {
    const { pass, outcomes, host, provisioner } = work;
    const data = { mode: 'hard', isForced: isPowerError(work), cleaning: host.spec.automatedCleaningMode } as const;
    record(work, 'powerOffForDeletion', await provisioner.powerOff(data), 'power management error');
    if (outcomes.powerOffForDeletion?.kind === 'done') pass.status = { ...pass.status, poweredOn: false };
  },

  async attachDataImage(work: HostWork): Promise<void> {
    record(work, 'attachDataImage', await work.attachDataImage(), 'power management error');
  },

  /** Stored before the servicing begins, so that the registration gets a ramdisk for it. */
  async startServicing({ pass, outcomes }: HostWork): Promise<void> {
    pass.status = { ...pass.status, operationalStatus: 'servicing' };
    outcomes.startServicing = { kind: 'changed' };
  },

  async service(work: HostWork): Promise<void> {
    const { pass, facts, firmware, provisioner } = work;
    const { result, isStarted } = await provisioner.service({
      firmware,
      isUnprepared: facts.hasServicing,
      hasFirmwareSpec: facts.hasServicingSpec,
      restartsAfterFailure: pass.status.errorType === 'servicing error',
    });
    record(work, 'service', result, 'servicing error');
    await saveFirmware(work, { result, isStarted });
    if (result.kind === 'done') pass.status = { ...clearedStatus(pass.status), errorCount: 0 };
  },
} as const;

/** The power is as the host asks, except for a restart that goes on. */
function settle({ pass, outcomes, facts, host }: HostWork, name: 'powerOn' | 'powerOff'): void {
  if (outcomes[name]?.kind !== 'done') return;
  const poweredOn = requestedReboot(facts) === undefined ? host.spec.online : pass.status.poweredOn;
  pass.status = { ...pass.status, poweredOn, errorCount: 0 };
}
