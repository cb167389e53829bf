import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conventionViolationsIn } from './check-conventions.ts';

const rows: readonly (readonly [file: string, text: string, found: RegExp | undefined])[] = [
  ['packages/kube/src/a.ts', '// TODO later', /TODO\(#12\)/],
  ['packages/kube/src/a.ts', '// TODO(#7) later', undefined],
  ['packages/kube/src/a.ts', "const text = 'TODO';", undefined],
  ['packages/kube/src/a.ts', '// oxlint-disable-next-line no-x', /reason of the exemption/],
  ['packages/kube/src/a.ts', '// oxlint-disable-next-line no-x -- the type is wrong upstream', undefined],
  ['packages/kube/src/a.ts', '// @ts-expect-error', /reason of the exemption/],
  ['packages/kube/src/a.ts', '// @ts-expect-error a phase that does not exist', undefined],
  ['packages/kube/src/a.ts', 'export default 1;', /default export/],
  ['packages/kube/src/a.ts', 'const home = process.env.HOME;', /take an argument/],
  ['services/operator/src/options.ts', 'const home = process.env.HOME;', undefined],
  ['tools/project/src/a.ts', 'const home = process.env.HOME;', undefined],
  ['services/boot/src/a.ts', 'console.log(1);', /injected log/],
  ['services/boot/src/string-utils.ts', '', /no utils/],
  ['services/boot/src/index.ts', '', /no barrels/],
  ['test/stories/a.test.ts', 'await sleep(10);', /found a sleep/],
  ['test/e2e/a.e2e.ts', 'await sleep(10);', /found a sleep/],
  ['test/stories/a.test.ts', 'test.only(title, run);', /run the test or remove it/],
  ['test/stories/a.test.ts', 'server.listen(8080);', /fixed port/],
  ['test/stories/a.test.ts', 'server.listen(0);', undefined],
  ['test/stories/a.test.ts', "test('claims', run);", /a sentence about behaviour/],
  ['test/stories/a.test.ts', "test('a claim should be bound', run);", /a sentence about behaviour/],
  ['test/stories/a.test.ts', "test('a claim without a matching server waits', run);", undefined],
  ['test/stories/a.test.ts', 'test(`${vendor}: power comes back`, run);', undefined],
];

for (const [file, text, found] of rows) {
  test(`${file} with "${text}" ${found === undefined ? 'follows the conventions' : `is reported: ${found.source}`}`, () => {
    const messages = conventionViolationsIn(file, text).map(({ message }) => message);
    if (found === undefined) assert.deepEqual(messages, []);
    else assert.match(messages.join('\n'), found);
  });
}

test('a violation has its line', () => {
  const text = "import { a } from './a.ts';\n\n/* one\n two TODO */\nexport default a;\n";
  assert.deepEqual(
    conventionViolationsIn('packages/kube/src/a.ts', text).map(({ line }) => line),
    [4, 5],
  );
});
