import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { kinds } from '@metal/api/kinds.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { registration } from '@metal/api/wire/probe-report.ts';
import { CustomResourceDefinition } from '@metal/kube/kinds/builtin.ts';
import { addedKinds } from './added-kinds.ts';
import { type ApiResponse, type Api, conditionsOf, openApi } from './api.ts';
import { bmc, claim, type Row, rows, server } from './validation-rows.ts';

suite('a real API server', () => {
  let api: Api;
  before(async () => {
    api = await openApi();
    await api.areAdmissionRulesEnforced();
  });
  after(() => api[Symbol.asyncDispose]());

  test('accepts every CRD without a violation in its schema or names', async () => {
    const { items } = await api.client.list(CustomResourceDefinition);
    const violations = items.flatMap((crd) =>
      conditionsOf(crd)
        .filter(({ type, status }) => type === 'NonStructuralSchema' || (type === 'NamesAccepted' && status !== 'True'))
        .map(({ message }) => `${crd.metadata.name}: ${message}`),
    );
    assert.deepEqual(violations, []);
    const groups: unknown[] = kinds.map(({ group }) => group);
    assert.equal(items.filter(({ spec }) => groups.includes(spec.group)).length, kinds.length);
  });

  for (const [index, row] of rows.entries()) test(row.title, () => checkRow(row, `row-${index}`));

  test('fills in the defaults of v0.7.0 for an object without a spec', async () => {
    const unspecified = kinds.filter(
      (kind) => kind !== ServerReadinessRule && !addedKinds.includes(kind.kind) && kind !== BMCSecret,
    );
    for (const kind of unspecified) {
      const { message, object } = await api.create(kind, 'unspecified', {});
      assert.equal(message, '', kind.kind);
      // The required fields of these reject the zero value.
      if (kind !== Endpoint && kind !== IPXEBootConfig) assert.notEqual(object.spec, undefined, kind.kind);
    }
  });

  test('fills in the documented defaults', async () => {
    const { object } = await api.create(Server, 'defaulted', server({ taints: [{ key: 'a' }], bmcRef: {} }));
    assert.deepEqual(object.spec, {
      systemUUID: 'u',
      reclaimPolicy: 'Recycle',
      unclaimable: false,
      taints: [{ key: 'a', effect: 'NoBind' }],
      bmcRef: { name: '' },
    });
  });

  test('warns about a deprecated kind that has a successor, with the text of v0.7.0', async () => {
    const endpoint = await api.create(Endpoint, 'warned', { spec: {} });
    assert.match(
      endpoint.warnings.join(),
      /Endpoints are deprecated; specify the network access inline via BMC\.spec\.access \(an InlineEndpoint with macAddress and ip\) instead/,
    );
    assert.deepEqual((await api.create(BMC, 'unwarned', bmc({ access: {} }))).warnings, []);
    const user = await api.create(BMCUser, 'unwarned', { spec: { userName: 'u', roleID: 'r' } });
    assert.deepEqual(user.warnings, [], 'nothing replaces BMCUser');
  });

  test('keeps a whole probe report', async () => {
    const { data } = registration.parse({ systemUUID: 'u', data: wholeReport });
    const times = { receivedTime: '2026-01-01T00:00:00Z', reportDigest: 'd' };
    const response = await api.create(ServerInventory, 'reported', {
      spec: { serverRef: { name: 's' }, systemUUID: 'u', ...times, report: data },
    });
    assert.deepEqual(
      [response.message, response.warnings, isRecord(response.object.spec) && response.object.spec.report],
      ['', [], data],
    );
  });

  test('allows two programs to apply their own conditions', async () => {
    await api.create(Server, 'shared', server());
    for (const type of ['Ready', 'Healthy']) {
      const condition = { type, status: 'True', reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
      await api.client.apply(
        Server,
        { metadata: { name: 'shared' }, status: { conditions: [condition] } },
        { fieldManager: type, subresource: 'status' },
      );
    }
    const { status } = await api.client.get(Server, { name: 'shared' });
    assert.deepEqual(
      status?.conditions?.map(({ type }) => type),
      ['Ready', 'Healthy'],
    );
  });

  test('keeps one condition of each type', async () => {
    await api.create(Server, 'conditions', server());
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'R',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const response = await api.patch(Server, 'conditions', { status: { conditions: [ready, ready] } }, '/status');
    assert.match(response.message, /Duplicate value/);
  });

  test('does not let a status write change the spec, nor a spec write the status', async () => {
    await api.create(ServerClaim, 'separate', claim());
    const byStatus = await api.patch(
      ServerClaim,
      'separate',
      { spec: { image: 'b' }, status: { phase: 'Bound' } },
      '/status',
    );
    assert.deepEqual([byStatus.object.spec, byStatus.object.status], [claim().spec, { phase: 'Bound' }]);
  });

  /** Creates the object and makes the optional change; returns the last response. */
  async function checkRow({ kind, object, change, expectedError }: Row, name: string): Promise<void> {
    const created = await api.create(kind, name, object);
    if (change === undefined) return assertResponse(created, expectedError);
    assert.equal(created.message, '', 'the object of the row has to be good before it is changed');
    assertResponse(await api.patch(kind, name, change), expectedError);
  }
});

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** A report with every section, and sizes beyond 32 bits. */
const wholeReport = {
  timestamp: '2026-01-01T00:00:00Z',
  systemInfo: { systemInformation: { manufacturer: 'Dell Inc.' } },
  cpu: [{ id: 0, totalCores: 64, capabilities: ['avx'] }],
  networkInterfaces: [{ name: 'eno1', macAddress: 'aa:bb:cc:dd:ee:ff', carrierStatus: 'up', ipAddresses: ['fe80::1'] }],
  lldp: [{ name: 'eno1', neighbors: [{ chassisId: 'c', capabilities: ['Bridge'] }] }],
  storage: [{ name: 'nvme0n1', sizeBytes: 2 ** 43 }],
  memory: [{ size: 2 ** 36, deviceLocator: 'A1' }],
  nics: [{ name: 'eno1', linkModes: ['1000baseT/Full'] }],
  pciDevices: [{ address: '0000:00:00.0', numaNodeID: 0 }],
};

function assertResponse({ status, message }: ApiResponse, expectedError: string | undefined): void {
  if (expectedError === undefined) assert.equal(message, '');
  else
    assert.deepEqual(
      { status, matches: message.includes(expectedError), message },
      { status: 422, matches: true, message },
    );
}
