import assert from 'node:assert/strict';
import { test } from 'node:test';
import { violationsIn } from './check-rooms.ts';

const boundaries = {
  'packages/kube': [],
  'packages/redfish': [],
  'services/operator': ['packages/kube', 'packages/redfish'],
  'tools/simulator': [],
  'test/lab': ['*'],
};
const messages = (file: string, text: string) =>
  violationsIn(file, text, boundaries).map(({ line, message }) => `${line} ${message}`);

test('a room uses what the plan allows', () => {
  assert.deepEqual(
    messages(
      'services/operator/src/a.ts',
      "import { b } from '@metal/kube/b.ts';\nimport type { C } from './c.ts';\nimport { readFile } from 'node:fs';\n",
    ),
    [],
  );
});

test('a package import through a wall is found with its line', () => {
  const [violation] = messages('tools/simulator/src/a.ts', "\nimport {\n  b,\n} from '@metal/redfish/b.ts';\n");
  assert.match(
    violation ?? '',
    /^4 imports @metal\/redfish\/b\.ts: tools\/simulator may use nothing of ours, not packages\/redfish/,
  );
});

test('a relative import through a wall is found too', () => {
  assert.equal(messages('packages/kube/src/a.ts', "export { x } from '../../redfish/src/x.ts';").length, 1);
});

test('dynamic imports count, comments do not', () => {
  assert.equal(messages('packages/kube/src/a.ts', "const x = await import('@metal/redfish/x.ts');").length, 1);
  assert.deepEqual(messages('packages/kube/src/a.ts', "/* import { x } from '@metal/redfish/x.ts'; */"), []);
});

test('rooms of the operator do not use one another', () => {
  assert.match(
    messages('services/operator/src/claim/a.ts', "import { b } from '../inventory/b.ts';")[0] ?? '',
    /room claim of the operator may not use room inventory/,
  );
  assert.deepEqual(messages('services/operator/src/claim/a.ts', "import { b } from '../shared.ts';"), []);
});

test('a file outside every room is named', () => {
  assert.match(messages('packages/new/src/a.ts', '')[0] ?? '', /lies in no room/);
});

test('the lab may use everything', () => {
  assert.deepEqual(messages('test/lab/src/a.ts', "import { b } from '@metal/redfish/b.ts';"), []);
});
