import { type AttributeSet, choice, number, offOn, onOff, text } from './attribute-set.ts';

const ifCustom = { writableIf: { attribute: 'OperatingModes_ChooseOperatingMode', value: 'CustomMode' } } as const;

export const lenovoBios: AttributeSet = {
  registryId: 'BiosAttributeRegistry.1.0.0',
  attributes: [
    choice(
      'OperatingModes_ChooseOperatingMode',
      'EfficiencyFavorPower=Efficiency - Favor Power|EfficiencyFavorPerformance=Efficiency - Favor Performance|MaximumPerformance=Maximum Performance|CustomMode=Custom Mode',
    ),
    onOff('Processors_HyperThreading'),
    onOff('Processors_IntelVirtualizationTechnology'),
    onOff('Processors_TurboMode', ifCustom),
    choice('Processors_CStates', 'Legacy|Autonomous|Disable', ifCustom),
    onOff('Processors_C1EnhancedMode', ifCustom),
    offOn('Processors_SNC'),
    choice('Processors_CoresinCPUPackage', 'All|8|16|24'),
    choice('Memory_MemorySpeed', 'MaxPerformance=Max Performance|Balanced|MinimalPower=Minimal Power'),
    offOn('Memory_SocketInterleave'),
    offOn('Memory_MirrorMode'),
    number('Memory_CorrectableErrorThreshold', 512, 1, 32767),
    choice('BootModes_SystemBootMode', 'UEFIMode=UEFI Mode|LegacyMode=Legacy Mode'),
    offOn('BootModes_InfiniteBootRetry'),
    onOff('DevicesandIOPorts_PCI64BitResourceAllocation'),
    onOff('DevicesandIOPorts_SRIOV'),
    onOff('DevicesandIOPorts_COMPort1'),
    choice('DevicesandIOPorts_ConsoleRedirection', 'Auto|Enabled=Enable|Disabled=Disable'),
    choice('SystemRecovery_POSTWatchdogTimer', 'Disabled=Disable|Enabled=Enable'),
    number('SystemRecovery_POSTWatchdogTimerValue', 5, 5, 20, {
      writableIf: { attribute: 'SystemRecovery_POSTWatchdogTimer', value: 'Enabled' },
    }),
    choice('Power_PowerRestorePolicy', 'Restore|AlwaysOn=Always On|AlwaysOff=Always Off'),
    text('Network_PXEHostName', '', 63),
    text('SystemInformation_MachineTypeModel', '7D76CTO1WW', 16, { readOnly: true }),
  ],
};
