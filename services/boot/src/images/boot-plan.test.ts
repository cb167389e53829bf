import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { cleanupAttemptAnnotation, discoveryAttemptAnnotation } from '@metal/api/wire/contract.ts';
import { type Artefact, fileArtefact } from './artefact.ts';
import { type BootMethod, bootMethods, planOf, wayOf } from './boot-plan.ts';
import type { LayerName } from './oci/layers.ts';

const imageWith = (layers: readonly LayerName[]) => ({
  name: 'os',
  commandLine: '',
  ...Object.fromEntries(layers.map((layer): [LayerName, Artefact] => [layer, fileArtefact(layer)])),
});

const possible: [LayerName[], readonly BootMethod[], BootMethod, LayerName[]][] = [
  [['kernel', 'initrd', 'squashfs', 'uki'], bootMethods, 'iPXE', ['kernel', 'initrd', 'squashfs']],
  [['kernel', 'initrd'], bootMethods, 'iPXE', ['kernel', 'initrd']],
  [['uki'], bootMethods, 'UefiHttp', ['uki']],
  [['kernel', 'uki'], bootMethods, 'UefiHttp', ['uki']],
  [['kernel', 'initrd', 'uki'], ['UefiHttp'], 'UefiHttp', ['uki']],
  [['kernel', 'initrd', 'uki'], ['iPXE'], 'iPXE', ['kernel', 'initrd']],
  [['uki'], ['iPXE'], 'UefiHttp', ['uki']],
];
for (const [layers, capable, method, loaded] of possible) {
  test(`an image with ${layers.join(', ')} boots by ${method} on a server with ${capable.join(', ')}`, () => {
    const plan = planOf(imageWith(layers), { capable });
    assert.equal(plan.method, method);
    assert.deepEqual(
      plan.artefacts.map(({ name }) => name),
      loaded,
    );
    assert.equal(plan.methods.length + plan.rejectedMethods.length, bootMethods.length);
  });
}

const impossible: [LayerName[], readonly BootMethod[], string, RegExp][] = [
  [['kernel'], bootMethods, 'LayerMissing', /iPXE: it lacks the layer initrd .*UefiHttp: it lacks the layer uki/],
  [[], bootMethods, 'LayerMissing', /layer kernel \(application\/vnd\.ironcore\.image\.kernel\) and the layer initrd/],
  [['squashfs'], bootMethods, 'LayerMissing', /kernel/],
  [['uki'], [], 'NoBootMethod', /UefiHttp: the server does not offer it/],
  [['kernel', 'initrd'], ['UefiHttp'], 'NoBootMethod', /iPXE: the server does not offer it; UefiHttp: it lacks/],
];
for (const [layers, capable, code, message] of impossible) {
  test(`an image with ${layers.join(', ') || 'no layer'} is rejected on a server with ${capable.join(', ')}: ${code}`, () => {
    assert.throws(() => planOf(imageWith(layers), { capable }), { code, message });
  });
}

const all: LayerName[] = ['kernel', 'initrd', 'uki'];
const attemptRows: [LayerName[], number, BootMethod[]][] = [
  [all, 0, ['iPXE', 'UefiHttp']],
  [all, 1, ['UefiHttp', 'iPXE']],
  [all, 2, ['iPXE', 'UefiHttp']],
  [['uki'], 1, ['UefiHttp']],
];
for (const [layers, failedAttempts, methods] of attemptRows) {
  test(`after ${failedAttempts} failed attempts the methods of an image with ${layers.join(', ')} are ${methods.join(', ')}`, () => {
    const plan = planOf(imageWith(layers), { failedAttempts });
    assert.deepEqual([plan.method, plan.methods], [methods[0], methods]);
  });
}

const offers: [string[] | undefined, readonly BootMethod[]][] = [
  [undefined, bootMethods],
  [[], bootMethods],
  [['None', 'Pxe', 'Hdd'], ['iPXE']],
  [['Pxe', 'UefiHttp'], bootMethods],
  [['UefiHttp', 'Hdd'], bootMethods],
  [['None', 'Hdd'], []],
];
for (const [bootTargets, capable] of offers) {
  test(`a BMC that offers ${bootTargets?.join(', ') ?? 'no list of targets'} can boot by ${capable.join(', ') || 'no method'}`, () => {
    // Only the fields that are read.
    const server = { status: bootTargets === undefined ? {} : { bootTargets } } as Server;
    const boot = { metadata: {} } as ServerBootConfiguration;
    assert.deepEqual(wayOf(boot, server).capable, capable);
  });
}

for (const [annotations, failedAttempts] of [
  [{}, 0],
  [{ [discoveryAttemptAnnotation]: '1' }, 0],
  [{ [discoveryAttemptAnnotation]: '2' }, 1],
  [{ [cleanupAttemptAnnotation]: '3' }, 2],
  [{ [discoveryAttemptAnnotation]: 'many' }, 0],
] as const) {
  test(`the annotations ${JSON.stringify(annotations)} mean ${failedAttempts} failed attempts`, () => {
    const boot = { metadata: { annotations } } as unknown as ServerBootConfiguration;
    assert.equal(wayOf(boot, undefined).failedAttempts, failedAttempts);
  });
}
