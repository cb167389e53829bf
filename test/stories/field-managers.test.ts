import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kinds } from '@metal/api/kinds.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();

/** Leaves of fieldsV1 as paths. */
function* pathsIn(fields: Record<string, unknown>, prefix = ''): Generator<string> {
  for (const [name, below] of Object.entries(fields)) {
    const members = below as Record<string, unknown>; // fieldsV1 holds objects only
    if (name === '.') continue;
    if (Object.keys(members).length === 0) yield `${prefix}${name}`;
    else yield* pathsIn(members, `${prefix}${name}/`);
  }
}

function* sharedFields(object: KubeObject): Generator<string> {
  const owners = new Map<string, string>();
  for (const { manager, fieldsV1 = {} } of (object.metadata.managedFields ?? []).filter(({ manager }) =>
    manager.startsWith('metal-op'),
  ))
    for (const path of pathsIn(fieldsV1)) {
      const owner = owners.get(path);
      if (owner !== undefined && owner !== manager)
        yield `${object.kind} ${object.metadata.name}: ${path} is owned by ${owner} and ${manager}`;
      owners.set(path, manager);
    }
}

test('every field has one field manager from discovery to a served claim', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ image: 'registry.test/os:1', on: node });
  await claim.reaches('Bound');
  await testenv.server(node).hasReason('ClaimServed');
  const shared: string[] = [];
  let count = 0;
  for (const kind of kinds)
    for (const object of (await testenv.client.list(kind)).items) {
      count += (object.metadata.managedFields ?? []).length;
      shared.push(...sharedFields(object));
    }
  assert.ok(count > 10, 'the API server recorded field managers');
  assert.deepEqual(shared, []);
});
