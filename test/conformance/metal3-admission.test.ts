import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { metal3AdmissionRules } from '@metal/api/metal3/admission/metal3-admission-rules.ts';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { invalidAddresses, validAddresses } from '@metal/metal3/test/bmc-address.rows.ts';
import { parseBmcAddress } from '@metal/metal3/bmc/parse-bmc-address.ts';
import { metal3Kinds, unusedMetal3Kinds } from '@metal/api/metal3/metal3-kinds.ts';
import { CustomResourceDefinition } from '@metal/kube/kinds/builtin.ts';
import { installAdmissionRules } from '@metal/kube/client/install-kinds.ts';
import { type Api, type ApiResponse, conditionsOf, openApiWithoutAdmission } from './api.ts';
import type { ChangedRow, CreatedRow } from './metal3-row.ts';
import { changedRows, createdRows } from './metal3-rows.ts';

suite('an API server with the kinds of Metal3', () => {
  let api: Api;
  before(async () => {
    api = await openApiWithoutAdmission();
    // Before the policies, like a host that is older than they are.
    const metadata = { name: 'invalid', namespace: 'default', finalizers: ['test.example/kept'] };
    await api.create(BareMetalHost, 'invalid', { metadata, spec: { online: false, disablePowerOff: true } });
    await installAdmissionRules(api.client, metal3AdmissionRules);
    await api.areAdmissionRulesEnforced();
  });
  after(async () => api[Symbol.asyncDispose]());

  test('accepts every CRD without a violation in its schema or names', async () => {
    const { items } = await api.client.list(CustomResourceDefinition);
    const found = items.filter(({ spec }) => spec.group === 'metal3.io');
    assert.equal(found.length, metal3Kinds.length);
    const violations = found.flatMap((crd) =>
      conditionsOf(crd).filter(
        ({ type, status }) => type === 'NonStructuralSchema' || (type === 'NamesAccepted' && status !== 'True'),
      ),
    );
    assert.deepEqual(violations, []);
  });

  for (const [index, row] of createdRows.entries())
    test(`${row.title} is ${row.rejected === undefined ? 'accepted' : 'rejected'}`, async () => {
      assertResponse(await create(row, `created-${index}`), row.rejected);
    });

  for (const [index, row] of changedRows.entries())
    test(`${row.title}, which is ${row.rejected === undefined ? 'accepted' : 'rejected'}`, async () => {
      assertResponse(await change(row, `changed-${index}`), row.rejected);
    });

  test('reports all problems of a host at once', async () => {
    const bmc = { address: 'my-.example.com', credentialsName: 'c' };
    const { message } = await api.create(BareMetalHost, 'wrong', {
      spec: { online: false, disablePowerOff: true, bmc },
    });
    assert.match(message, /spec\.bmc\.address: expected an address .*; spec\.online: expected true/);
  });

  test('accepts the addresses that the parser of the controller accepts', async () => {
    // CEL compares no numbers in a text, and decodes no escapes.
    const lenient = ['ipmi://host:65536', 'redfish://host/%zz'];
    const texts = [...validAddresses, ...invalidAddresses].map(([text]) => text).filter((text) => text !== '');
    const found: [text: string, isAccepted: boolean][] = [];
    for (const [index, address] of texts.entries()) {
      const spec = { online: true, bootMACAddress: 'aa:bb:cc:dd:ee:ff', bmc: { address, credentialsName: 'c' } };
      const { status } = await api.create(BareMetalHost, `addressed-${index}`, { spec });
      found.push([address, status === 201]);
    }
    assert.deepEqual(
      found,
      texts.map((text) => [text, lenient.includes(text) || 'address' in parseBmcAddress(text)]),
    );
  });

  test('fills in the defaults', async () => {
    const { object } = await api.create(BareMetalHost, 'defaulted', {});
    assert.deepEqual(object.spec, { online: false, automatedCleaningMode: 'metadata' });
  });

  test('warns about kinds that no controller reads', async () => {
    for (const kind of unusedMetal3Kinds) {
      const { warnings } = await api.create(kind, 'unread', { spec: validSpecs[kind.kind] });
      assert.match(warnings.join(), new RegExp(`no controller of this operator reads ${kind.kind} objects`), kind.kind);
    }
  });

  test('annotations and finalizers of an invalid host stay writable', async () => {
    const marked = await api.patch(BareMetalHost, 'invalid', { metadata: { annotations: { a: 'b' } } });
    assert.equal(marked.message, '');
    const described = await api.patch(BareMetalHost, 'invalid', { spec: { description: 'd' } });
    assert.match(described.message, /spec\.online: expected true/);
    assert.equal((await api.delete(BareMetalHost, 'invalid')).message, '');
    assert.equal((await api.patch(BareMetalHost, 'invalid', { metadata: { finalizers: null } })).message, '');
  });

  async function create({ kind, name, annotations, spec }: CreatedRow, byDefault: string): Promise<ApiResponse> {
    const metadata = { name: name ?? byDefault, namespace: 'default', ...(annotations && { annotations }) };
    return api.create(kind, metadata.name, { metadata, spec });
  }

  async function change(row: ChangedRow, name: string): Promise<ApiResponse> {
    assert.equal((await create(row, name)).message, '', 'the object of the row has to be valid before it is changed');
    const { state = '', operational = 'OK' } = row;
    const status = {
      operationalStatus: operational,
      errorMessage: '',
      poweredOn: false,
      provisioning: { state, ID: '' },
    };
    if (state !== '') assert.equal((await api.patch(row.kind, name, { status }, '/status')).message, '');
    return api.patch(row.kind, name, row.change);
  }
});

const validSpecs: Readonly<Record<string, object>> = {
  BareMetalSwitch: { address: 'a', deviceType: 'd', macAddress: 'aa:bb:cc:dd:ee:ff' },
  HostClaim: { poweredOn: true },
  HostDeployPolicy: {},
  HostNetworkAttachment: { nativeVLAN: 1 },
};

function assertResponse({ status, message }: ApiResponse, rejected: string | undefined): void {
  if (rejected === undefined) return assert.equal(message, '');
  assert.deepEqual({ status, matches: message.includes(rejected), message }, { status: 422, matches: true, message });
}
