import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttributeDefinition, AttributeRegistry } from '@metal/redfish/resources/attributes.ts';
import type { FirmwareComponent } from '@metal/redfish/resources/firmware-inventory.ts';
import { publishedBios, publishedFirmware, publishedRegistry } from './published.ts';

const definitionOf = (name: string, fields: Partial<AttributeDefinition> = {}): AttributeDefinition => ({
  name,
  type: 'String',
  values: [],
  readOnly: false,
  hidden: false,
  immutable: false,
  resetRequired: undefined,
  ...fields,
});

const registryOf = (...definitions: readonly AttributeDefinition[]): AttributeRegistry => ({
  id: 'BiosAttributeRegistry.v1_0_0',
  definitions: new Map(definitions.map((one) => [one.name, one])),
  dependencies: [],
});

const value = (name: string) => ({ name, displayName: undefined });
const bootMode = definitionOf('BootMode', { type: 'Enumeration', values: [value('Uefi'), value('Bios')] });
const registry = registryOf(
  bootMode,
  definitionOf('Cores', { type: 'Integer', lowerBound: 0, upperBound: 64, readOnly: true }),
  definitionOf('SetupPassword', { type: 'Password' }),
  definitionOf('UserPwd'),
  definitionOf('Internal', { hidden: true }),
);

const observed = (current: Record<string, string | number | boolean | null>, of?: AttributeRegistry) => ({
  current,
  pending: {},
  registry: of,
  isResetPending: false,
});

test('passwords, hidden attributes and those without a value are not published', () => {
  const current = { BootMode: 'Uefi', Cores: 8, SetupPassword: 's', UserPwd: 's', Internal: 'x', Absent: null };
  const { attributes } = publishedBios(observed(current, registry), 'r');
  assert.deepEqual(attributes, { BootMode: 'Uefi', Cores: '8' });
  const without = publishedBios(observed({ ...current, AdminPassword: 's' }), undefined);
  assert.deepEqual(Object.keys(without.attributes), ['BootMode', 'Cores', 'Internal']);
  assert.deepEqual(publishedRegistry(registry)?.spec, {
    registryID: 'BiosAttributeRegistry.v1_0_0',
    attributes: {
      BootMode: { type: 'Enumeration', values: ['Uefi', 'Bios'] },
      Cores: { type: 'Integer', lowerBound: 0, upperBound: 64, readOnly: true },
    },
  });
});

test('servers with the same registry share one object, and another content of the same identifier is another one', () => {
  const nameOf = (of: AttributeRegistry) => publishedRegistry(of)?.name ?? '';
  assert.match(nameOf(registry), /^biosattributeregistry\.v1-0-0-[0-9a-f]{10}$/);
  assert.equal(nameOf(registry), nameOf({ ...registry, definitions: new Map([...registry.definitions].toReversed()) }));
  assert.notEqual(nameOf(registry), nameOf(registryOf(definitionOf('BootMode'))));
  assert.match(nameOf({ ...registry, id: '..Ü/_' }), /^registry-[0-9a-f]{10}$/);
  assert.equal(publishedRegistry(registryOf()), undefined);
});

test('what a BMC reports is published within limits, and what is left out is counted', () => {
  const component = (id: string): FirmwareComponent => ({
    id,
    uri: id,
    name: 'n'.repeat(10_000),
    version: '1',
    manufacturer: undefined,
    updateable: undefined,
    isStaged: false,
    isCopy: false,
    softwareId: undefined,
    relatedItems: [],
    kind: undefined,
  });
  const firmware = publishedFirmware(
    Array.from({ length: 1_000 }, (_, at) => component(String(at))),
    2,
  );
  assert.ok(JSON.stringify(firmware).length < 66_000);
  assert.equal(firmware.components.length + (firmware.omitted ?? 0), 1_002);
  const current = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`A${at}`, 'v'.repeat(100)]));
  const bios = publishedBios(observed({ ...current, Long: 'v'.repeat(1_001) }), undefined);
  assert.ok(JSON.stringify(bios).length < 132_000);
  assert.equal(Object.keys(bios.attributes).length + (bios.omitted ?? 0), 10_001);
  const values = Array.from({ length: 1_000 }, (_, at) => value(`v${at}`.padEnd(300)));
  const many = Array.from({ length: 1_000 }, (_, at) => definitionOf(`A${at}`, { type: 'Enumeration', values }));
  assert.ok(JSON.stringify(publishedRegistry(registryOf(...many))?.spec).length < 800_000);
});

test('components are published with what the BMC tells of them', () => {
  const { components } = publishedFirmware(
    [
      {
        id: 'NIC.1',
        uri: '/redfish/v1/UpdateService/FirmwareInventory/NIC.1',
        name: 'NIC',
        version: '22.1',
        manufacturer: 'Acme',
        updateable: false,
        isStaged: true,
        isCopy: false,
        softwareId: '8086',
        relatedItems: ['/redfish/v1/a'],
        kind: undefined,
      },
    ],
    0,
  );
  assert.deepEqual(components, [
    { id: 'NIC.1', name: 'NIC', version: '22.1', manufacturer: 'Acme', updateable: false, staged: true },
  ]);
});
