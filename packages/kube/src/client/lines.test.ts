import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linesOf } from './lines.ts';

async function* inPieces(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function allOf(lines: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

const expected = [{ name: 'a' }, { name: 'Rack 4 · Schrank Ü', note: 'line\nbreak' }, { name: '' }];
const text = expected.map((line) => `${JSON.stringify(line)}\n`).join('');

test('lines do not depend on the chunks in which they arrive', async () => {
  for (const size of [1, 2, 3, 7, 16, 1_000])
    assert.deepEqual(await allOf(linesOf(inPieces(text, size))), expected, `in pieces of ${size} bytes`);
});

test('an incomplete last line is dropped', async () => {
  assert.deepEqual(await allOf(linesOf(inPieces(`${text}{"name":"hal`, 5))), expected);
});
