import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttributeValues } from '@metal/simulator/attributes/attribute-set.ts';
import type { Vendor } from '@metal/simulator/profiles.ts';
import type { Testenv } from '@metal/testenv/testenv.ts';
import { createBiosSettings, createBmcSettings, type Settings } from './settings-fixture.ts';
import { freeMachine, startsSince } from './update-fixture.ts';

/** Settings of every vendor, and what they become. */

interface Case {
  readonly bios: Settings;
  readonly biosValues: AttributeValues;
  readonly bmc: Settings;
  /** Group of the attributes of the manager, and what they are afterwards; or properties of a resource. */
  readonly bmcValues: Readonly<Record<string, object>>;
  readonly bmcResets: number;
}

const ntp = (manager: string) => ({
  bmc: { [`PATCH /redfish/v1/Managers/${manager}/NetworkProtocol`]: '{"NTP":{"NTPServers":["10.0.0.1","10.0.0.2"]}}' },
  bmcValues: {
    [`/redfish/v1/Managers/${manager}/NetworkProtocol`]: {
      NTP: { ProtocolEnabled: false, NTPServers: ['10.0.0.1', '10.0.0.2'] },
    },
  },
  bmcResets: 0,
});

const dell: Case = {
  bios: { SysProfile: 'Performance', CpuMinSevAsid: '5', AssetTag: 'rack 7', LogicalProc: 'Disabled' },
  biosValues: { SysProfile: 'PerfOptimized', CpuMinSevAsid: 5, AssetTag: 'rack 7', LogicalProc: 'Disabled' },
  bmc: {
    'NTPConfigGroup.1.NTP1': '10.0.0.1',
    'ServerPwr.1.PowerCapValue': '700',
    'WebServer.1.TLSProtocol': 'TLS 1.3 Only',
    'System.Embedded.1/Location.1.Name': 'rack 7',
  },
  bmcValues: {
    'iDRAC.Embedded.1': {
      'NTPConfigGroup.1.NTP1': '10.0.0.1',
      'WebServer.1.TLSProtocol': 'TLS 1.3 Only',
      'Location.1.Name': '',
    },
    'System.Embedded.1': { 'ServerPwr.1.PowerCapValue': 700, 'Location.1.Name': 'rack 7' },
  },
  bmcResets: 1,
};

const cases = {
  generic: {
    bios: { PowerProfile: 'Maximum performance', NumaGroupSize: '4', Sriov: 'true', AssetLabel: 'rack 7' },
    biosValues: { PowerProfile: 'MaxPerf', NumaGroupSize: 4, Sriov: true, AssetLabel: 'rack 7' },
    bmc: { NtpEnabled: 'true', fooreboot: '200', LinkSpeed: '1000' },
    bmcValues: { '': { NtpEnabled: true, fooreboot: 200, LinkSpeed: '1000' } },
    bmcResets: 1,
  },
  dell,
  'dell-idrac9': dell,
  hpe: {
    bios: { ThermalConfig: 'Maximum Cooling', UrlBootTimeout: '60', AdminName: 'rack 7' },
    biosValues: { ThermalConfig: 'MaxCooling', UrlBootTimeout: 60, AdminName: 'rack 7' },
    ...ntp('1'),
  },
  lenovo: {
    bios: { Memory_MemorySpeed: 'Minimal Power', Memory_CorrectableErrorThreshold: '100', Network_PXEHostName: 'r7' },
    biosValues: {
      Memory_MemorySpeed: 'MinimalPower',
      Memory_CorrectableErrorThreshold: 100,
      Network_PXEHostName: 'r7',
    },
    ...ntp('1'),
  },
  supermicro: {
    bios: { 'SNC (Sub NUMA) 0199': 'Enable SNC2', 'SDRAM refresh 0112': '4', 'Quiet Boot': 'false' },
    biosValues: { 'SNC (Sub NUMA) 0199': 'Enable SNC2', 'SDRAM refresh 0112': 4, 'Quiet Boot': false },
    ...ntp('1'),
  },
  gigabyte: {
    bios: { CBS033: 'Performance', SETUP001: '10', SETUP005: 'false' },
    biosValues: { CBS033: 'CBS033Performance', SETUP001: 10, SETUP005: false },
    ...ntp('Self'),
  },
  'supermicro-x10': {
    bios: { 'Power Technology': 'Custom', 'Watch Dog Timeout': '5', 'Quiet Boot': 'false' },
    biosValues: { 'Power Technology': 'Custom', 'Watch Dog Timeout': 5, 'Quiet Boot': false },
    ...ntp('1'),
  },
} satisfies Partial<Record<Vendor, Case>>;

export type VendorWithSettings = keyof typeof cases;
export const vendorsWithSettings = Object.keys(cases) as VendorWithSettings[]; // the keys of this object

/** Declares the tests of one vendor. */
export function testSettingsOf(vendor: VendorWithSettings, startTestenv: () => Promise<Testenv>): void {
  const wanted: Case = cases[vendor];
  test(`${vendor}: texts become values of the types of the BIOS attributes, with one restart`, async () => {
    await using testenv = await startTestenv();
    const { node } = await freeMachine(testenv, vendor);
    const before = node.powerLog.length;
    await createBiosSettings(testenv, { node }, wanted.bios);
    const done = await testenv.updates.biosSettings.named('tuned').reaches('Applied');
    assert.deepEqual(subset(node.machine.biosAttributes, wanted.biosValues), wanted.biosValues);
    assert.equal(done.metadata.generation, 1, 'the operator does not write the spec');
    await testenv.server(node).hasReason('Available');
    assert.equal(startsSince(node, before), 2, 'once for the maintenance, once for the settings');
  });

  test(`${vendor}: settings of the BMC are changed, with a restart of the BMC only where they need one`, async () => {
    await using testenv = await startTestenv();
    const { node } = await freeMachine(testenv, vendor);
    await createBmcSettings(testenv, { node }, wanted.bmc);
    await testenv.updates.bmcSettings.named('tuned').reaches('Applied');
    const { settings, profile } = node.bmc;
    for (const [place, values] of Object.entries(wanted.bmcValues)) {
      const set = profile.managerAttributes[place];
      const found = set === undefined ? settings.resourceAt(place) : settings.stateOf(place, set).current;
      assert.deepEqual(subset(found ?? {}, values), values);
    }
    assert.equal(node.bmc.resets.length, wanted.bmcResets);
    await testenv.server(node).hasReason('Available');
  });
}

const subset = (values: object, like: object): object =>
  Object.fromEntries(Object.keys(like).map((name) => [name, Reflect.get(values, name)]));
