import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { test } from 'node:test';

const [lines, lineBytes] = [20_000, 1_000];

/** A process that logs 20 MB, then tells its metrics, and goes on when its stdin ends. */
const logLoadScript = (format: string): string => `
import { createLog, exportLostLines } from '${import.meta.resolve('./log.ts')}';
import { Registry } from '${import.meta.resolve('prom-client')}';
const processLog = createLog({ format: '${format}', level: 'info' });
const registry = new Registry();
exportLostLines(registry, processLog);
for (let line = 0; line < ${lines}; line += 1) processLog.log.info({ text: 'x'.repeat(${lineBytes}) }, 'said');
console.log(await registry.metrics());
process.stdin.resume().on('end', () => {
  processLog.log.info('said later');
  process.exit(0);
});
console.log('silent');`;

for (const format of ['json', 'text']) {
  test(`a blocked log in ${format} keeps its first lines and logs the number of dropped ones when it is read again`, async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', logLoadScript(format)]);
    const ended = once(child, 'exit');
    let lost = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith('metal_log_lines_dropped_total ')) lost = Number(line.split(' ')[1]);
      if (line === 'silent') break;
    }
    assert.ok(lost > 1_000 && lost < 5_000, `16 of 20 MB are kept; ${lost} lines were lost`);

    const logged = { before: 0, after: 0, lost: [] as string[] };
    for await (const line of createInterface({ input: child.stderr })) {
      if (line.includes('said later')) logged.after += 1;
      else if (line.includes('said')) logged.before += 1;
      else if (logged.lost.push(line) === 1) child.stdin.end();
    }
    assert.equal(logged.before + lost, lines);
    assert.equal(logged.lost.length, 1, logged.lost.join('\n'));
    assert.match(logged.lost[0] ?? '', new RegExp(`warn.*\\blines"?[:=]${lost}\\b`));
    assert.equal(logged.after, 1, 'it goes on');
    assert.deepEqual(await ended, [0, null]);
  });
}

/** Logs 200 kB, more than a pipe holds; says what became of them, and ends at once, whoever reads. */
const flushScript = (withinMs: number): string => `
import { createLog } from '${import.meta.resolve('./log.ts')}';
const { log, isWritten } = createLog({ format: 'json', level: 'info' });
const said = [await isWritten(60_000)];
log.info({ text: 'x'.repeat(200_000) }, 'said');
process.stdin.resume().on('end', async () => {
  said.push(await isWritten(${withinMs}));
  console.log(JSON.stringify(said));
  process.kill(process.pid, 'SIGKILL');
});
console.log('logged');`;

const readers = [
  { reads: 'nobody reads', is: false, withinMs: 50, act: () => undefined },
  { reads: 'somebody reads', is: true, withinMs: 60_000, act: (stderr: Readable) => stderr.resume() },
  { reads: 'the reader has gone', is: true, withinMs: 60_000, act: (stderr: Readable) => stderr.destroy() },
];

for (const { reads, is, withinMs, act } of readers)
  test(`the log reports whether its lines are written where ${reads}`, async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', flushScript(withinMs)]);
    const ended = once(child, 'exit');
    const outputs: unknown[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      if (line !== 'logged') outputs.push(JSON.parse(line));
      act(child.stderr);
      child.stdin.end();
    }
    assert.deepEqual(outputs, [[true, is]]);
    await ended;
  });

/** Logs 200 kB, and ends. */
const exitScript = `
import { createLog, flushOrKill } from '${import.meta.resolve('./log.ts')}';
const processLog = createLog({ format: 'json', level: 'info' });
processLog.log.info({ text: 'x'.repeat(200_000) }, 'said');
await flushOrKill(processLog)[Symbol.asyncDispose]();
process.exit(0);`;

test('a process with a blocked log ends, also as the first process of a container, which ignores its own SIGKILL', async () => {
  const node = [process.execPath, '--input-type=module', '--eval', exitScript];
  const asFirst = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--kill-child'];
  const [command = '', ...args] = (await mayBeFirst(asFirst)) ? [...asFirst, ...node] : node;
  const child = spawn(command, args);
  child.stderr.pause();
  const [code, signal] = (await once(child, 'exit')) as [number | null, string];
  assert.deepEqual([code, signal], [null, command === 'unshare' ? 'SIGSEGV' : 'SIGKILL']);
});

/** Some machines keep name spaces for themselves. */
const mayBeFirst = ([command = '', ...args]: readonly string[]): Promise<boolean> =>
  once(spawn(command, [...args, 'true'], { stdio: 'ignore' }), 'exit').then(
    ([code]) => code === 0,
    () => false,
  );
