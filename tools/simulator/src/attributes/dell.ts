import { type AttributeSet, choice, number, offOn, onOff, password, text } from './attribute-set.ts';

export const dellBios: AttributeSet = {
  registryId: 'BiosAttributeRegistry.v1_0_0',
  attributes: [
    text('SystemServiceTag', 'ABC1234', 7, { readOnly: true }),
    text('SystemBiosVersion', '1.3.2', 20, { readOnly: true }),
    offOn('MemTest'),
    offOn('NodeInterleave'),
    onOff('LogicalProc'),
    onOff('ProcVirtualization'),
    offOn('SubNumaCluster'),
    choice('ProcCores', 'All|4|8|16'),
    choice(
      'SysProfile',
      'PerfPerWattOptimizedDapc=Performance Per Watt (DAPC)|PerfOptimized=Performance|DenseCfgOptimized=Dense Configuration Optimized|Custom',
    ),
    onOff('ProcTurboMode', { writableIf: { attribute: 'SysProfile', value: 'Custom' } }),
    onOff('ProcC1E', { writableIf: { attribute: 'SysProfile', value: 'Custom' } }),
    onOff('ProcCStates', { writableIf: { attribute: 'SysProfile', value: 'Custom' } }),
    choice('BootMode', 'Uefi=UEFI|Bios=BIOS'),
    onOff('BootSeqRetry'),
    offOn('HddFailover'),
    onOff('IntegratedRaid'),
    choice('UsbPorts', 'AllOn=All Ports On|OnlyBackPortsOn=Only Back Ports On|AllOff=All Ports Off'),
    offOn('SriovGlobalEnable'),
    choice('SerialComm', 'OnConRedirAuto=Auto|OnConRedir=On with Console Redirection|Off'),
    choice('ConTermType', 'Vt100Vt220=VT100/VT220|Ansi=ANSI'),
    choice('AcPwrRcvry', 'Last|On|Off'),
    choice('AcPwrRcvryDelay', 'Immediate|Random|User=User Defined'),
    number('AcPwrRcvryUserDelay', 120, 120, 600, { writableIf: { attribute: 'AcPwrRcvryDelay', value: 'User' } }),
    text('AssetTag', '', 63, { resetRequired: false }),
    choice('TpmSecurity', 'On|Off'),
    onOff('PxeDev1EnDis'),
    choice('NumLock', 'On|Off', { resetRequired: undefined }),
    text('IscsiInitiatorName', '', 223),
    number('CpuMinSevAsid', 1, 1, 1007),
    password('SetupPassword'),
  ],
};

const groups = 'ManagerAttributeRegistry.v1_0_0';

export const idrac: AttributeSet = {
  registryId: groups,
  attributes: [
    offOn('NTPConfigGroup.1.NTPEnable', { resetRequired: false }),
    text('NTPConfigGroup.1.NTP1', '', 254, { resetRequired: false }),
    text('NTPConfigGroup.1.NTP2', '', 254, { resetRequired: false }),
    offOn('SysLog.1.SysLogEnable', { resetRequired: false }),
    text('SysLog.1.Server1', '', 511, { resetRequired: false }),
    onOff('IPMILan.1.Enable', { resetRequired: false }),
    number('WebServer.1.Timeout', 1800, 60, 10800, { resetRequired: false }),
    choice('WebServer.1.TLSProtocol', 'TLS 1.2 and Higher|TLS 1.3 Only', { resetRequired: true }),
    offOn('SNMP.1.AgentEnable', { resetRequired: false }),
    text('SNMP.1.AgentCommunity', 'public', 31, { resetRequired: false }),
    text('Info.1.Product', 'Integrated Dell Remote Access Controller', 63, { readOnly: true }),
    password('Users.2.Password'),
    text('Location.1.Name', '', 63, { resetRequired: false }),
  ],
};

export const dellSystem: AttributeSet = {
  registryId: groups,
  attributes: [
    offOn('ServerPwr.1.PSRapidOn', { resetRequired: false }),
    choice('ThermalSettings.1.ThermalProfile', 'Default Thermal Profile Settings|Maximum Performance', {
      resetRequired: false,
    }),
    number('ServerPwr.1.PowerCapValue', 800, 300, 1200, { resetRequired: false }),
    text('ServerOS.1.HostName', '', 62, { resetRequired: false }),
    // The same name as in the first group.
    text('Location.1.Name', '', 63, { resetRequired: false }),
  ],
};

export const dellLifecycle: AttributeSet = {
  registryId: groups,
  attributes: [
    offOn('LCAttributes.1.CollectSystemInventoryOnRestart', { resetRequired: false }),
    choice('LCAttributes.1.AutoUpdate', 'Off=Disabled|On=Enabled', { resetRequired: false }),
  ],
};
