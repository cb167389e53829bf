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

test('lines are the same in whatever pieces they come', async () => {
  for (const size of [1, 2, 3, 7, 16, 1_000])
    assert.deepEqual(await allOf(linesOf(inPieces(text, size))), expected, `in pieces of ${size} bytes`);
});

test('a line that does not end was cut off and is not told', async () => {
  assert.deepEqual(await allOf(linesOf(inPieces(`${text}{"name":"hal`, 5))), expected);
});
