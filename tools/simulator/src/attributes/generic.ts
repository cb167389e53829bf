import { type AttributeSet, choice, flag, number, offOn, onOff, password, text } from './attribute-set.ts';

export const genericBios: AttributeSet = {
  registryId: 'BiosAttributeRegistry.v1_0_0',
  attributes: [
    text('AdminPhone', '', 40, { resetRequired: false }),
    number('MaxCores', 64, 1, 64, { resetRequired: false }),
    choice('BootMode', 'Uefi=UEFI|LegacyBios=Legacy BIOS'),
    number('BootTimeoutSec', 5, 0, 600),
    choice('UsbControl', 'UsbEnabled=USB enabled|UsbDisabled=USB disabled'),
    onOff('LogicalProc'),
    onOff('ProcHyperthreading'),
    onOff('ProcVirtualization'),
    offOn('ProcTurboMode', { readOnly: true }),
    choice('WorkloadProfile', 'Balanced|Performance=High performance|Custom'),
    onOff('ProcCStates', { writableIf: { attribute: 'WorkloadProfile', value: 'Custom' } }),
    choice('PowerProfile', 'SysDbpm=System|OsDbpm=Operating system|MaxPerf=Maximum performance'),
    choice('ProcCores', 'All|1|2|3'),
    choice('EmbeddedSata', 'NonRaid=AHCI|Raid=RAID', { resetRequired: undefined }),
    choice('NicBoot1', 'NetworkBoot|Disabled', { hidden: true }),
    choice('NicBoot2', 'Disabled|NetworkBoot', { hidden: true }),
    flag('Sriov', false),
    flag('QuietBoot', true),
    number('NumaGroupSize', 1, 1, 8),
    number('FanOffset', 0, -10, 10, { resetRequired: false }),
    text('AssetLabel', '', 32, { shortest: 0 }),
    text('BiosReleaseDate', '2026-01-15', 10, { immutable: true }),
    password('SetupPassword'),
    offOn('MemoryTest'),
  ],
};

/** What its manager has; the registry stands in the place of its locator. */
export const genericManager: AttributeSet = {
  registryId: 'BMCAttributeRegistry',
  attributes: [
    text('abc', 'bar', 40, { resetRequired: false }),
    number('fooreboot', 123, 0, 1000),
    text('composite', 'foo-123', 40, { resetRequired: false }),
    flag('NtpEnabled', false, { resetRequired: false }),
    text('NtpServer1', '', 253, { resetRequired: false }),
    choice('LinkSpeed', 'Auto=Automatic|1000|100'),
    text('BoardRevision', 'A02', 8, { readOnly: true }),
  ],
};
