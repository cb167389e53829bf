import { type AttributeSet, choice, flag, number, offOn, onOff, text } from './attribute-set.ts';

export const supermicroBios: AttributeSet = {
  registryId: 'BiosAttributeRegistry.v1_0_0',
  attributes: [
    choice('Hyper-Threading [ALL]', 'Enable|Disable'),
    choice('Intel Virtualization Technology', 'Enable|Disable'),
    choice('Power Technology', 'Energy Efficient|Custom|Disable'),
    choice('Turbo Mode', 'Enable|Disable', { writableIf: { attribute: 'Power Technology', value: 'Custom' } }),
    choice('Enable C6 0137', 'Auto|Enable|Disable', { writableIf: { attribute: 'Power Technology', value: 'Custom' } }),
    choice('SNC (Sub NUMA) 0199', 'Disable|Enable SNC2'),
    choice('Boot mode select', 'UEFI|LEGACY|DUAL'),
    choice('CPU SLOT1 PCI-E 5.0 X16 OPROM 0056', 'EFI|Legacy|Disabled'),
    choice('CPU SLOT2 PCI-E 5.0 X16 OPROM 0057', 'EFI|Legacy|Disabled'),
    choice('Onboard LAN1 Option ROM 0061', 'PXE|Disabled|HTTP'),
    onOff('SR-IOV Support'),
    offOn('Re-Size BAR Support'),
    choice('Restore on AC Power Loss', 'Last State|Stay Off|Power On'),
    flag('Quiet Boot', true),
    flag('Wait For F1 If Error 0033', false),
    number('Watch Dog Timeout 0038', 0, 0, 255),
    choice('Serial Port 1', 'Enabled|Disabled'),
    choice('Console Redirection 0071', 'Enabled|Disabled'),
    number('SDRAM refresh 0112', 2, 1, 4),
    choice('TPM Device Selection', 'TPM 2.0|Disabled', { hidden: true }),
    text('Asset Tag 0201', '', 40, { resetRequired: undefined }),
    text('CPU Name 0003', 'Xeon', 64, { readOnly: true }),
  ],
};

/** A board whose BMC has BIOS attributes and no registry. */
export const supermicroX10Bios: AttributeSet = {
  registryId: undefined,
  attributes: [
    choice('Hyper-Threading', 'Enable|Disable'),
    choice('Power Technology', 'Energy Efficient|Custom|Disable'),
    flag('Quiet Boot', true),
    number('Watch Dog Timeout', 0, 0, 255),
    text('Asset Tag', '', 40),
  ],
};

/** Names and values of AMI firmware are numbers of its menus. */
export const amiBios: AttributeSet = {
  registryId: 'BiosAttributeRegistryF31.1.0.0',
  attributes: [
    choice('CBS001', 'CBS001Auto=Auto|CBS001Disabled=Disabled'),
    choice('CBS033', 'CBS033Auto=Auto|CBS033Performance=Performance|CBS033Efficiency=Efficiency'),
    choice('PMS007', 'PMS007Enabled=Enabled|PMS007Disabled=Disabled'),
    choice('PCIS003', 'PCIS003Enabled=Enabled|PCIS003Disabled=Disabled'),
    choice('FBO001', 'FBO001UEFI=UEFI|FBO001LEGACY=LEGACY'),
    choice('NWSK000', 'NWSK000Enabled=Enabled|NWSK000Disabled=Disabled'),
    choice('SETUP006', 'SETUP006Last=Last State|SETUP006On=Power On|SETUP006Off=Power Off'),
    number('SETUP001', 5, 0, 65535),
    flag('SETUP005', true),
    text('SETUP010', '', 20, { resetRequired: undefined }),
  ],
};
