import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');

const facts = `
interface ServerFacts { readonly power: string; mayStart(): boolean; readonly when: () => number }
export function readFacts(cache: Cache, memory: Memory): ServerFacts {
  const power = cache.power();
  cache.wake();
  memory.since ??= 1;
  memory.count++;
  return make(power);
}
`;

/** Lines at which the rule finds something in the text. */
async function linesFound(text: string): Promise<number[]> {
  const directory = await mkdtemp(join(tmpdir(), 'metal-pure-facts-'));
  try {
    await writeFile(join(directory, 'facts.ts'), text);
    const config = { jsPlugins: [join(root, 'tools/project/pure-facts.js')], rules: { 'metal/pure-facts': 'error' } };
    await writeFile(join(directory, '.oxlintrc.json'), JSON.stringify(config));
    const parameters = ['-c', '.oxlintrc.json', '-A', 'all', '--format=unix', 'facts.ts'];
    const output = await new Promise<string>((resolve) => {
      execFile(join(root, 'node_modules/.bin/oxlint'), parameters, { cwd: directory }, (_error, stdout) =>
        resolve(stdout),
      );
    });
    return [...output.matchAll(/^facts\.ts:(\d+):/gm)].map(([, line]) => Number(line));
  } finally {
    await rm(directory, { recursive: true });
  }
}

test('facts with calls for effect, writes and functions are reported', async () => {
  assert.deepEqual(await linesFound(facts), [2, 2, 5, 6, 7]);
});
