import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Artefact, fileArtefact } from './artefact.ts';
import { type BootMethod, bootMethods, planOf } from './boot-plan.ts';
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
];
for (const [layers, capable, method, loaded] of possible) {
  test(`an image with ${layers.join(', ')} boots by ${method} where the server can do ${capable.join(', ')}`, () => {
    const plan = planOf(imageWith(layers), capable);
    assert.equal(plan.method, method);
    assert.deepEqual(
      plan.artefacts.map(({ name }) => name),
      loaded,
    );
    assert.equal(plan.methods.length + plan.refusals.length, bootMethods.length);
  });
}

const impossible: [LayerName[], readonly BootMethod[], string, RegExp][] = [
  [['kernel'], bootMethods, 'LayerMissing', /iPXE: it lacks the layer initrd .*UefiHttp: it lacks the layer uki/],
  [[], bootMethods, 'LayerMissing', /layer kernel \(application\/vnd\.ironcore\.image\.kernel\) and the layer initrd/],
  [['squashfs'], bootMethods, 'LayerMissing', /kernel/],
  [['uki'], ['iPXE'], 'NoBootMethod', /UefiHttp: the server does not offer it/],
  [['kernel', 'initrd'], ['UefiHttp'], 'NoBootMethod', /iPXE: the server does not offer it; UefiHttp: it lacks/],
];
for (const [layers, capable, code, message] of impossible) {
  test(`an image with ${layers.join(', ') || 'no layer'} is refused where the server can do ${capable.join(', ')}: ${code}`, () => {
    assert.throws(() => planOf(imageWith(layers), capable), { code, message });
  });
}
