import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { heldBytes } from '../test/held-memory.ts';
import { jsonOf, parse, refusalOf } from './answer.ts';
import { RedfishError } from './errors.ts';

const asked = { origin: 'https://10.0.0.7:443', method: 'GET', path: '/redfish/v1/' };
const answer = (status: number, text: string) => ({ status, headers: {}, text });

const rows: [title: string, textOf: (words: string) => string, judge: (text: string) => unknown][] = [
  ['an error page', (words) => `<html>${words}`, (text) => refusalOf(answer(500, text), asked, 0)],
  [
    'a long explanation',
    (words) => JSON.stringify({ error: { message: words } }),
    (text) => refusalOf(answer(400, text), asked, 0),
  ],
  ['a page instead of JSON', (words) => `<html>${words}`, (text) => jsonOf(answer(200, text), asked)],
  ['JSON that is cut off', (words) => `{"Name": "${words}`, (text) => jsonOf(answer(200, text), asked)],
  [
    'JSON of another shape',
    (words) => JSON.stringify({ Name: [words] }),
    (text) => parse(z.object({ Name: z.string() }), jsonOf(answer(200, text), asked), answer(200, text), asked),
  ],
];

for (const [title, textOf, judge] of rows) {
  test(`${title} of 48 kB is quoted in an error that holds a tenth of it at most`, () => {
    const make = (index: number): unknown => errorOf(judge, textOf(`${index} ${'lorem ipsum '.repeat(4_000)}`));
    assert.ok(make(0) instanceof RedfishError);
    const bytes = heldBytes(make);
    assert.ok(bytes < 4_800, `${bytes} bytes`);
  });
}

/** The text is an argument: what a function has around it is held by the stacks of its errors. */
function errorOf(judge: (text: string) => unknown, text: string): unknown {
  try {
    return judge(text);
  } catch (error) {
    return error;
  }
}

test('the words of the parser, which tell where, are passed on', () => {
  const error = errorOf((text) => jsonOf(answer(200, text), asked), '{"Name": "BM');
  assert.ok(error instanceof RedfishError);
  assert.match(error.message, /expected JSON, found "\{"Name": "BM"/);
  assert.ok(error.cause instanceof SyntaxError);
  assert.match(error.cause.message, /position 12/);
});

test('a character that is cut in half does not make the text unreadable', () => {
  const { message } = refusalOf(answer(500, `${'x'.repeat(299)}😀 and more`), asked, 0);
  assert.ok(message.isWellFormed());
  assert.match(message, /x\uFFFD…$/);
});
