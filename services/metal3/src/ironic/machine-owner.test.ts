import assert from 'node:assert/strict';
import { test } from 'node:test';
import { machineOwner, type OperatorObjects } from './machine-owner.ts';

const uuid = 'aaaaaaaa-1111-4111-8111-111111111111';
const bmc = (name: string, spec: object) => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'BMC' as const,
  metadata: { name },
  spec: { bmcSecretRef: { name }, protocol: { name: 'Redfish' as const, port: 443 }, ...spec },
});
const objects: OperatorObjects = {
  bmcs: [
    bmc('inline', { access: { ip: '192.0.2.7' } }),
    bmc('v6', { access: { ip: '2001:db8:0::7' } }),
    bmc('endpoint', { endpointRef: { name: 'e' } }),
    bmc('named', { hostname: 'bmc.example.com' }),
  ],
  endpoints: [
    { apiVersion: 'metal.ironcore.dev/v1alpha1', kind: 'Endpoint', metadata: { name: 'e' }, spec: { ip: '192.0.2.8' } },
  ],
  servers: [
    {
      apiVersion: 'metal.ironcore.dev/v1alpha1',
      kind: 'Server',
      metadata: { name: 's' },
      spec: { systemUUID: uuid.toUpperCase() },
    },
  ],
};

const rows: [address: string, owner: RegExp | undefined][] = [
  ['redfish://192.0.2.7:8443/redfish/v1/Systems/1', /^BMC inline of this operator has the address 192\.0\.2\.7: /],
  ['ipmi://192.0.2.7', /^BMC inline /],
  ['redfish://[2001:DB8::7]/redfish/v1/Systems/1', /^BMC v6 /],
  ['redfish://192.0.2.8/', /^BMC endpoint /],
  ['redfish://BMC.example.com/', /^BMC named /],
  [`redfish://192.0.2.9/redfish/v1/Systems/${uuid}`, /^Server s of this operator has the system UUID /],
  ['redfish://192.0.2.9/redfish/v1/Systems/1', undefined],
  ['not an address', undefined],
];
for (const [address, owner] of rows) {
  test(`the owner of the machine at ${address} is ${owner?.source ?? 'nobody'}`, () => {
    const found = machineOwner(address, objects);
    if (owner === undefined) assert.equal(found, undefined);
    else assert.match(found ?? '', owner);
  });
}
