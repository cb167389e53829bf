import { type AttributeSet, choice, number, offOn, onOff, text } from './attribute-set.ts';

const ifCustom = { writableIf: { attribute: 'WorkloadProfile', value: 'Custom' } } as const;

export const hpeBios: AttributeSet = {
  registryId: 'BiosAttributeRegistryU54.v1_1_48',
  attributes: [
    choice(
      'WorkloadProfile',
      'GeneralPowerEfficientCompute=General Power Efficient Compute|Virtualization-MaxPerformance=Virtualization - Max Performance|LowLatency=Low Latency|Custom',
    ),
    onOff('ProcHyperthreading'),
    onOff('ProcVirtualization'),
    onOff('IntelProcVtd'),
    onOff('Sriov'),
    choice(
      'PowerRegulator',
      'DynamicPowerSavings=Dynamic Power Savings|StaticHighPerf=Static High Performance|OsControl=OS Control',
      ifCustom,
    ),
    choice('MinProcIdlePower', 'C6=C6 State|C1E=C1E State|NoCStates=No C-states', ifCustom),
    choice('EnergyPerfBias', 'BalancedPerf=Balanced Performance|MaxPerf=Maximum Performance', ifCustom),
    onOff('ProcTurbo', ifCustom),
    offOn('SubNumaClustering'),
    choice('NumaGroupSizeOpt', 'Flat|Clustered'),
    choice('BootMode', 'Uefi=UEFI Mode|LegacyBios=Legacy BIOS Mode'),
    choice('EmbeddedSata', 'Ahci=SATA AHCI Support|Vmd=Intel VMD'),
    choice('PreBootNetwork', 'Auto|EmbNic=Embedded NIC'),
    choice(
      'AutoPowerOn',
      'RestoreLastState=Restore Last Power State|AlwaysPowerOn=Always Power On|AlwaysPowerOff=Always Power Off',
    ),
    choice('PostBootProgress', 'Serial|Disabled|All'),
    choice(
      'ThermalConfig',
      'OptimalCooling=Optimal Cooling|IncreasedCooling=Increased Cooling|MaxCooling=Maximum Cooling',
    ),
    number('UrlBootTimeout', 30, 0, 255),
    text('UrlBootFile', '', 255),
    text('AdminName', '', 14),
    text('AdminPhone', '', 14, { resetRequired: undefined }),
    text('AdminEmail', '', 64),
    text('ServiceName', '', 14),
    text('SerialNumber', 'CZ2D0X0XYZ', 16, { readOnly: true }),
    text('ProductId', 'P28948-B21', 16, { immutable: true }),
  ],
};
