import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BMCSettings } from '@metal/api/v1alpha1/bmc-settings.ts';
import type { VendorProfile } from '@metal/simulator/profiles.ts';
import { profiles, vendors } from '@metal/simulator/profiles.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { freeMachine } from '../fixtures/update-fixture.ts';

const startTestenv = testenvsOfFile();

/** The first attribute with a list of values that can be changed, and its second value. */
function choiceIn({ bios }: VendorProfile) {
  const found = bios.attributes.find(
    (each) => each.type === 'Enumeration' && each.writableIf === undefined && !each.readOnly && !each.hidden,
  );
  const [value, displayName] = found?.values?.[1] ?? assert.fail();
  return { name: found?.name ?? '', value, text: bios.registryId === undefined ? value : displayName };
}

const ntp = '{"NTP":{"ProtocolEnabled":true,"NTPServers":["10.0.0.1","10.0.0.2"]}}';
const bmcSettings = (vendor: (typeof vendors)[number]): Record<string, string> => {
  if (vendor === 'generic') return { abc: 'rack 7', fooreboot: '7' };
  if (vendor.startsWith('dell'))
    return { 'WebServer.1.TLSProtocol': 'TLS 1.3 Only', 'ServerPwr.1.PowerCapValue': '700' };
  return { [`PATCH /redfish/v1/Managers/${profiles[vendor].managerId}/NetworkProtocol`]: ntp };
};

for (const vendor of vendors) {
  test(`${vendor}: BIOS settings and BMC settings are applied`, async () => {
    await using testenv = await startTestenv();
    const { node, server } = await freeMachine(testenv, vendor);
    const { name, value, text } = choiceIn(profiles[vendor]);
    await testenv.client.create(BIOSSettings, {
      metadata: { name: 'tuned' },
      spec: {
        version: server.status?.biosVersion ?? '',
        serverRef: { name: server.metadata.name },
        settingsFlow: [{ name: 'one', priority: 1, settings: { [name]: text } }],
      },
    });
    await testenv.updates.biosSettings.named('tuned').reaches('Applied');
    assert.equal(node.machine.biosAttributes[name], value);
    await testenv.server(node).hasReason('Available');

    const settings = bmcSettings(vendor);
    await testenv.client.create(BMCSettings, {
      metadata: { name: 'net' },
      spec: { version: profiles[vendor].firmwareVersion, BMCRef: { name: node.name }, settings },
    });
    await testenv.updates.bmcSettings.named('net').reaches('Applied');
    await testenv.server(node).hasReason('Available');
    const sent = node.bmc.requests.filter(({ method, path }) => method === 'PATCH' && path.includes('/Managers/'));
    assert.equal(sent.length, vendor.startsWith('dell') ? 2 : 1, 'each group of settings is sent once');
  });
}
