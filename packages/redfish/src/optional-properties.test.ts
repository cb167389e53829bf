import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { StubBmc, openStubClient } from '../test/stub-bmc.ts';
import { resourceTree, systemPath } from '../test/resource-tree.ts';
import { pathsInto, replaced, unusableValues } from '../test/unusable-values.ts';
import type { Bmc } from './http/bmc.ts';
import { readInventory } from './resources/inventory.ts';
import { readManagers } from './resources/managers.ts';
import * as resources from './schemas.ts';
import * as updateResources from './update-schemas.ts';
import { serviceRoot } from './http/service-root.ts';
import { readSystems } from './resources/systems.ts';

/** The only required property: without it a resource cannot be addressed. */
const required = '@odata.id';

async function readAll(bmc: Bmc): Promise<Record<string, unknown>> {
  const { system, missing, ...parts } = await readInventory(bmc, systemPath);
  const everything = { system, ...parts, systems: await readSystems(bmc), managers: await readManagers(bmc) };
  return { ...(JSON.parse(JSON.stringify(everything)) as typeof everything), missing };
}

/** The parts of a result that come from a resource, by its path. */
const filledBy: [resource: RegExp, result: RegExp][] = [
  [/Systems\/1$/, /^system\b|^systems\.0\b/],
  [/Processors\/CPU1$/, /^processors\.0\b/],
  [/EthernetInterfaces\/1$/, /^networkInterfaces\.0\b/],
  [/Storage\/A$/, /^storages\.0\b/],
  [/Storage\/A\/Drives\/0$/, /^storages\.0\.drives\.0\b/],
  [/Storage\/A\/Volumes\/1$/, /^storages\.0\.volumes\.0\b/],
  [/Managers\/1$/, /^managers\.0\b/],
];
/** Parts of a result that are missing without a link. */
const behindLinks: Readonly<Record<string, RegExp>> = {
  Processors: /^processors\b/,
  EthernetInterfaces: /^networkInterfaces\b/,
  Storage: /^storages\b/,
};

const leavesOf = (value: unknown) =>
  new Map(
    pathsInto(value).flatMap((path) => {
      const leaf = path.reduce<unknown>((inner, name) => Reflect.get(inner as object, name), value);
      return leaf instanceof Object ? [] : [[path.join('.'), leaf] as const];
    }),
  );

/** Paths at which two results differ. */
function differences(one: unknown, other: unknown): string[] {
  const [before, after] = [leavesOf(one), leavesOf(other)];
  const all = [...new Set([...before.keys(), ...after.keys()])];
  return all.filter((path) => before.get(path) !== after.get(path));
}

const expand = { NoLinks: true };

for (const [resource, result] of filledBy) {
  const at = Object.keys(resourceTree).find((path) => resource.test(path)) ?? assert.fail(`no ${resource}`);
  for (const [name, value] of [
    ['absent', undefined],
    ['null', null],
  ] as const) {
    test(`any property of ${at} may be ${name} without an effect on the others`, async () => {
      await using stub = await StubBmc.start({ expand });
      for (const [path, each] of Object.entries(resourceTree)) stub.set(path, each);
      await using bmc = openStubClient(stub);
      const before = await readAll(bmc);
      assert.deepEqual(before['missing'], []);
      for (const path of pathsInto(resourceTree[at])) {
        // Entries of a list of references are covered by the test of collections.
        if (path.includes(required) || path[0] === 'Drives') continue;
        stub.set(at, replaced(resourceTree[at], path, value) as object);
        const after = await readAll(bmc);
        const behindLink = behindLinks[path[0] ?? ''] ?? result;
        const wrong = differences(before, after).filter((each) => !result.test(each) && !behindLink.test(each));
        assert.deepEqual(wrong, [], `${path.join('.')} is ${name}`);
      }
    });
  }
}

test('the resources of the test have every property of the schemas', async () => {
  const shapes: [z.ZodObject, RegExp][] = [
    [resources.system, /Systems\/1$/],
    [resources.manager, /Managers\/1$/],
    [resources.processor, /CPU1$/],
    [resources.drive, /Drives\/0$/],
    [resources.volume, /Volumes\/1$/],
    [resources.storage, /Storage\/A$/],
    [resources.ethernetInterface, /EthernetInterfaces\/1$/],
  ];
  for (const [{ shape }, resource] of shapes) {
    const [, found = {}] = Object.entries(resourceTree).find(([path]) => resource.test(path)) ?? [];
    assert.deepEqual(
      Object.keys(shape).filter((name) => !(name in found)),
      required in shape ? [required] : [],
    );
  }
});

test('no schema requires more than @odata.id', async () => {
  const schemas = { ...resources, ...updateResources, serviceRoot };
  const objects = Object.entries(schemas).filter(([, schema]) => schema instanceof z.ZodType);
  assert.ok(objects.length >= 18, 'the schemas are found');
  for (const [name, schema] of objects as [string, z.ZodType][]) {
    const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    for (const value of Object.values(unusableValues)) {
      const nothing = Object.fromEntries(known.filter((each) => each !== required).map((each) => [each, value]));
      const result = schema.safeParse({ [required]: '/redfish/v1/x', ...nothing });
      assert.equal(result.error?.message, undefined, name);
    }
    assert.ok(schema.safeParse({ [required]: '/redfish/v1/x' }).success, name);
  }
});

test('a resource without @odata.id is rejected with one line that names resource and property', async () => {
  await using stub = await StubBmc.start();
  stub.set('/redfish/v1/Systems', { Members: [{ '@odata.id': systemPath }] });
  stub.resources.set(systemPath, { UUID: 'a' });
  await using bmc = openStubClient(stub);
  const message = /Systems\/1 with an invalid resource: property @odata\.id: [^\n{]*$/;
  await assert.rejects(readInventory(bmc, systemPath), { name: 'RedfishError', code: 'BadAnswer', message });
  await assert.rejects(readSystems(bmc), { name: 'RedfishError', code: 'BadAnswer', message });
});

const shapes: [title: string, resource: object, expected: object][] = [
  ['empty texts', { Model: '', SerialNumber: ' ', BiosVersion: '' }, { model: undefined, serialNumber: undefined }],
  ['no memory', { MemorySummary: { TotalSystemMemoryGiB: 0 } }, { memoryGiB: undefined }],
  ['a fraction of memory', { MemorySummary: { TotalSystemMemoryGiB: 31.5 } }, { memoryGiB: 31.5 }],
  ['no Boot and no Actions', { Boot: undefined, Actions: null }, { bootOrder: undefined, resetTypes: undefined }],
  ['a light that is null', { LocationIndicatorActive: null, IndicatorLED: 'Lit' }, { indicatorLED: 'Lit' }],
];
for (const [title, resource, expected] of shapes) {
  test(`a system with ${title} is read`, async () => {
    await using stub = await StubBmc.start();
    stub.set(systemPath, resource);
    await using bmc = openStubClient(stub);
    assert.partialDeepStrictEqual((await readInventory(bmc, systemPath)).system, expected);
  });
}

test('names that are null or empty, and numbers that are zero, count as absent', async () => {
  await using stub = await StubBmc.start();
  for (const [path, each] of Object.entries(resourceTree)) stub.set(path, each);
  stub.set(`${systemPath}/Storage/A`, { ...resourceTree[`${systemPath}/Storage/A`], Name: null, Id: '' });
  stub.set(`${systemPath}/Storage/A/Drives/0`, { Name: '', Model: null, CapacityBytes: null });
  stub.set(`${systemPath}/EthernetInterfaces/1`, {
    Name: '',
    PermanentMACAddress: '',
    MACAddress: '02:00:00:00:00:01',
  });
  stub.set(`${systemPath}/Processors/CPU1`, { Id: 'CPU1', MaxSpeedMHz: 0, TotalCores: 0, TotalThreads: null });
  await using bmc = openStubClient(stub);
  const { storages, networkInterfaces, processors, missing } = await readInventory(bmc, systemPath);
  assert.deepEqual(missing, []);
  assert.partialDeepStrictEqual(storages[0], {
    name: 'A',
    drives: [{ name: undefined, capacityBytes: undefined }],
  });
  assert.partialDeepStrictEqual(networkInterfaces[0], {
    name: '02:00:00:00:00:01',
    macAddress: '02:00:00:00:00:01',
  });
  assert.partialDeepStrictEqual(processors[0], { maxSpeedMHz: undefined, totalCores: undefined });
});
