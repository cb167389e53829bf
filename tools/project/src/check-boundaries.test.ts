import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCycles, violationsIn } from './check-boundaries.ts';

const boundaries = {
  'packages/kube/src': [],
  'packages/kube/src/cache': ['packages/kube/src/.'],
  'packages/kube/test': ['packages/kube'],
  'packages/redfish': [],
  'services/operator/src': ['packages/kube', 'packages/redfish', 'services/operator/src'],
  'services/operator/src/scheduling': ['packages/kube'],
  'services/operator/src/controllers/*': ['packages/kube', 'services/operator/src/.'],
  'tools/simulator': [],
  'test/testenv': ['*'],
};
const messages = (file: string, text: string) =>
  violationsIn(file, text, boundaries).map(({ line, message }) => `${line} ${message}`);

test('a folder imports what boundaries.json lists', () => {
  assert.deepEqual(
    messages(
      'services/operator/src/a.ts',
      "import { b } from '@metal/kube/cache/b.ts';\nimport type { C } from './c.ts';\nimport { readFile } from 'node:fs';\n",
    ),
    [],
  );
});

test('a violation names the line, both folders and the remedy', () => {
  const [violation] = messages('tools/simulator/src/a.ts', "\nimport {\n  b,\n} from '@metal/redfish/b.ts';\n");
  assert.equal(
    violation,
    '4 imports @metal/redfish/b.ts: tools/simulator may import nothing of ours, not packages/redfish; put it into the package that owns the noun',
  );
});

test('relative and dynamic imports count, comments do not', () => {
  assert.equal(messages('packages/kube/src/a.ts', "export { x } from '../../redfish/src/x.ts';").length, 1);
  assert.equal(messages('packages/kube/src/a.ts', "const x = await import('@metal/redfish/x.ts');").length, 1);
  assert.deepEqual(messages('packages/kube/src/a.ts', "/* import { x } from '@metal/redfish/x.ts'; */"), []);
});

test('an inner folder imports the files of its parent but the parent does not import it', () => {
  assert.deepEqual(messages('packages/kube/src/cache/a.ts', "import { b } from '../b.ts';"), []);
  assert.equal(messages('packages/kube/src/b.ts', "import { a } from './cache/a.ts';").length, 1);
  assert.equal(
    messages('services/operator/src/controllers/bmc/a.ts', "import { b } from '../../scheduling/b.ts';").length,
    1,
  );
});

test('controllers do not import each other', () => {
  const text = "import { b } from '../server/b.ts';";
  assert.equal(messages('services/operator/src/controllers/bmc/a.ts', text).length, 1);
  assert.deepEqual(messages('services/operator/src/controllers/server/a.ts', text), []);
});

test('a test imports anything in its package', () => {
  assert.deepEqual(messages('packages/kube/src/b.test.ts', "import { a } from './cache/a.ts';"), []);
  assert.equal(messages('packages/kube/src/b.test.ts', "import { a } from '@metal/redfish/a.ts';").length, 1);
});

test('only tests import the test folder of a package', () => {
  const text = "import { a } from '@metal/kube/test/a.ts';";
  assert.deepEqual(messages('services/operator/src/a.test.ts', text), []);
  assert.deepEqual(
    messages('packages/kube/test/b.ts', "import { a } from './a.ts';\nimport { c } from '../src/c.ts';"),
    [],
  );
  assert.deepEqual(messages('services/operator/src/a.ts', text), [
    '1 imports @metal/kube/test/a.ts, which is code of tests; move what the product needs into src',
  ]);
  assert.equal(messages('packages/kube/src/a.ts', "import { a } from '../test/a.ts';").length, 1);
});

test('a file outside of all folders is named', () => {
  assert.match(messages('packages/new/src/a.ts', '')[0] ?? '', /lies in no folder of boundaries.json/);
});

test('an import cycle is found once, with all its files', () => {
  const imports = new Map([
    ['a.ts', ['b.ts', 'd.ts']],
    ['b.ts', ['c.ts']],
    ['c.ts', ['a.ts']],
    ['d.ts', []],
  ]);
  assert.deepEqual(
    findCycles(imports).map(({ file, message }) => `${file} ${message}`),
    ['a.ts is in an import cycle with b.ts, c.ts; move the type that both need'],
  );
});
