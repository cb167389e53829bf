import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { MACAddressIndex } from '@metal/api/v1alpha1/mac-address-index.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { untilRejected } from '@metal/testenv/cluster/endpoint-dry-run.ts';
import { type Api, openApi } from './api.ts';
import { bmc, claim, server } from './validation-rows.ts';

suite('what the API server checks beyond the schemas', () => {
  let api: Api;
  before(async () => {
    api = await openApi();
    await api.areAdmissionRulesEnforced();
  });
  after(async () => api[Symbol.asyncDispose]());

  test('a server in maintenance is deleted only with the annotation that allows it', async () => {
    await api.create(Server, 'busy', server());
    await api.patch(Server, 'busy', { status: { state: 'Maintenance' } }, '/status');
    const rejected = await api.delete(Server, 'busy');
    assert.equal(rejected.status, 403);
    assert.match(
      rejected.message,
      /denied request: cannot delete Server busy in state Maintenance: end the ServerMaintenance first, or set annotation /,
    );
    await api.patch(Server, 'busy', { metadata: { annotations: { 'metal.ironcore.dev/operation': 'ignore' } } });
    assert.equal((await api.delete(Server, 'busy')).status, 403);
    const annotations = { 'metal.ironcore.dev/operation': 'allow-in-progress-delete' };
    await api.patch(Server, 'busy', { metadata: { annotations } });
    assert.equal((await api.delete(Server, 'busy')).message, '');
  });

  test('a server in another state, or without one, is deleted', async () => {
    await api.create(Server, 'new', server());
    assert.equal((await api.delete(Server, 'new')).message, '');
    await api.create(Server, 'parked', server());
    await api.patch(Server, 'parked', { status: { state: 'Parked' } }, '/status');
    assert.equal((await api.delete(Server, 'parked')).message, '');
  });

  test('a MAC address is accepted once, in any notation', async () => {
    const macAddress = 'aa:bb:cc:dd:ee:01';
    assert.equal((await api.create(Endpoint, 'first', { spec: { macAddress } })).message, '');
    await api.create(MACAddressIndex, 'endpoints-1', { spec: { endpoints: { AABBCCDDEE01: 'first' } } });
    await untilRejected(api.client, { name: 'twin', macAddress });
    for (const notation of [macAddress, 'AA:BB:CC:DD:EE:01', 'aa-bb-cc-dd-ee-01', 'aabb.ccdd.ee01', 'AABBCCDDEE01']) {
      const rejected = await api.create(Endpoint, 'twin', { spec: { macAddress: notation } });
      assert.equal(rejected.status, 422);
      assert.match(
        rejected.message,
        new RegExp(
          `spec.macAddress: Duplicate value: "${notation}": Endpoint first has it already; if that Endpoint was deleted or changed, check that the operator is running and try again$`,
        ),
      );
    }
    await api.create(Endpoint, 'other', { spec: { macAddress: 'aa:bb:cc:dd:ee:02' } });
    const changed = await api.patch(Endpoint, 'other', { spec: { macAddress: 'AABBCCDDEE01' } });
    assert.match(changed.message, /Endpoint first has it already/);
    assert.equal((await api.patch(Endpoint, 'first', { spec: { macAddress: 'AA-BB-CC-DD-EE-01' } })).message, '');
  });

  test('an endpoint may keep its own MAC address in an update, and may have none', async () => {
    await api.create(Endpoint, 'alone', { spec: { macAddress: 'aa:bb:cc:dd:ee:03' } });
    assert.equal((await api.patch(Endpoint, 'alone', { spec: { macAddress: 'AA-BB-CC-DD-EE-03' } })).message, '');
    for (const name of ['empty-1', 'empty-2'])
      assert.equal((await api.create(Endpoint, name, { spec: { macAddress: '' } })).message, '');
    for (const name of ['none-1', 'none-2']) assert.equal((await api.create(Endpoint, name, {})).message, '');
  });

  const redfish = (port: number, name = 'Redfish') => ({ name, port });
  const inline = (protocol: object) => ({ address: 'a', protocol, bmcSecretRef: { name: 's' } });
  const advice: [
    what: string,
    kind: typeof Server | typeof BMC | typeof ServerClaim,
    object: object,
    warning?: RegExp,
  ][] = [
    [
      'both bmc and bmcRef',
      Server,
      server({ bmcRef: { name: 'b' }, bmc: inline(redfish(443)) }),
      /spec\.bmc is ignored because spec\.bmcRef is set/,
    ],
    ['neither bmc nor bmcRef', Server, server(), /neither spec\.bmcRef nor spec\.bmc is set/],
    ['a bmcRef', Server, server({ bmcRef: { name: 'b' } })],
    ['a bmc with an unknown protocol', Server, server({ bmc: inline(redfish(443, 'IPMI')) }), /protocol .*IPMI/],
    ['a bmc', Server, server({ bmc: inline(redfish(443)) })],
    [
      'an unsupported protocol',
      BMC,
      bmc({ access: {}, protocol: redfish(623, 'IPMI') }),
      /protocol .*IPMI.* on port 623/,
    ],
    ['a port out of range', BMC, bmc({ access: {}, protocol: redfish(70_000) }), /a port from 1 to 65535/],
    ['a supported protocol', BMC, bmc({ access: {} })],
    ['neither serverRef nor serverSelector', ServerClaim, claim(), /the claim is bound to any available server/],
    ['an empty serverSelector', ServerClaim, claim({ serverSelector: {} })],
  ];

  for (const [index, [what, kind, object, warning]] of advice.entries()) {
    test(`${kind.kind} with ${what} is accepted ${warning === undefined ? 'without a warning' : 'with a warning'}`, async () => {
      const { message, warnings } = await api.create(kind, `advised-${index}`, object);
      assert.equal(message, '');
      if (warning === undefined) assert.deepEqual(warnings, []);
      else assert.match(warnings.join(), warning);
    });
  }
});
