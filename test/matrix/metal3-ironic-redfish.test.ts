import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Fleet, type Node, startFleet } from '@metal/simulator/fleet.ts';
import { type IronicFixture, startIronicFixture } from '@metal/testenv/ironic-fixture.ts';
import type { IronicHost } from '@metal/testenv/ironic-host.ts';

let fixture: IronicFixture;
let fleet: Fleet;
before(async () => {
  fixture = await startIronicFixture();
  fleet = await startFleet({ powerOnMs: 100, powerOffMs: 100, bootMs: 100 });
});
after(async () => {
  await fleet?.[Symbol.asyncDispose]();
  await fixture?.[Symbol.asyncDispose]();
});

const credentials = { username: 'admin', password: 'fleet-password' };

const addressOf = (node: Node, type = 'redfish-virtualmedia'): string =>
  `${type}+http://${node.bmc.address}:${fleet.port}/redfish/v1/Systems/${node.machine.systemId}`;

function hostOf(node: Node, password = credentials.password): IronicHost {
  const { nics } = node.machine.hardware;
  const bmc = { address: addressOf(node), credentialsName: 'bmc' };
  return fixture.host(
    { bmc, bootMACAddress: nics[0]?.macAddress ?? '' },
    { credentials: { ...credentials, password } },
  );
}

test('a host is enrolled: its node has the interfaces of the address, and a port', async () => {
  const node = await fleet.add();
  const host = hostOf(node);
  assert.deepEqual(await host.until(), { kind: 'done' });
  console.log(await fixture.node(host));
});

test('fast inspection', async () => {
  const node = await fleet.add();
  const host = hostOf(node);
  const data = {
    mode: 'fast',
    bootMode: 'UEFI',
    architecture: 'x86_64',
    isRefresh: false,
    isForced: false,
    restartsAfterFailure: false,
  } as const;
  let details;
  const result = await host.until(
    async (provisioner) => {
      const inspection = await provisioner.inspect(data);
      details = inspection.details;
      return inspection.result;
    },
    { inspection: 'fast' },
  );
  console.log(result, JSON.stringify(details, null, 1));
});
