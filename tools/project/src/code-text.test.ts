import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importsIn, readCode } from './code-text.ts';

test('comments, strings and code are separated, line by line', () => {
  const text = "const url = 'http://a'; // as b\n/* one\ntwo */ const c = /['\"`]/;";
  const { code, bare, comments } = readCode(text);
  assert.equal(code, "const url = 'http://a';        \n      \n       const c = /['\"`]/;");
  assert.equal(bare, "const url = '        ';        \n      \n       const c = /     /;");
  assert.equal(comments, '                        // as b\n/* one\ntwo */                   ');
});

test('a division is not a regular expression', () => {
  assert.equal(readCode("const half = a / b; const s = '/';").bare, "const half = a / b; const s = ' ';");
  assert.equal(readCode('(a + b) / 2 / c').bare, '(a + b) / 2 / c');
});

test('every form of import is found, with the line of its specifier', () => {
  const text = [
    "import { a } from 'a';",
    'import {',
    '  b,',
    "} from 'b';",
    "export * from 'c';",
    "import 'd';",
    "const e = await import('e');",
    "const f = import.meta.resolve('f');",
    "import type { G } from 'g';",
  ].join('\n');
  assert.deepEqual(
    importsIn(text).map(({ specifier, line }) => `${specifier}${line}`),
    ['a1', 'b4', 'c5', 'd6', 'e7', 'f8', 'g9'],
  );
});

test('an import of types alone is distinguished from one that loads a module', () => {
  const text = [
    "import type { A } from 'a';",
    "export type { B } from 'b';",
    "import { type C, c } from 'c';",
    "import type from 'd';",
    "import 'e';",
  ].join('\n');
  assert.deepEqual(
    importsIn(text).flatMap(({ specifier, isTypeOnly }) => (isTypeOnly ? [specifier] : [])),
    ['a', 'b'],
  );
});

test('an import in a comment, a string or a template is ignored', () => {
  const text = [
    "// import { a } from 'a';",
    "/* import { b } from 'b'; */",
    "// const c = import('c');",
    'const text = "import { d } from \'d\';";',
    "const script = `\nimport { e } from 'e';\n`;",
  ].join('\n');
  assert.deepEqual(importsIn(text), []);
});
