import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('main.ts', import.meta.url));

function start(...parameters: string[]): ChildProcess & AsyncDisposable {
  const child = spawn(process.execPath, [program, ...parameters], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  return Object.assign(child, {
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  });
}

/** Reads until the text appears; the end of the output is an error. */
async function readUntil({ stdout }: ChildProcess, wanted: RegExp): Promise<string> {
  let text = '';
  for await (const chunk of stdout ?? []) {
    text += String(chunk);
    if (wanted.test(text)) break;
  }
  return text;
}

test('metal-fleet lists its servers, writes its files and stops with Ctrl-C', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'metal-fleet-'));
  try {
    const files = [
      '--mac-prefixes',
      join(directory, 'p.yaml'),
      '--endpoints',
      join(directory, 'e.yaml'),
      '--ca',
      join(directory, 'ca.pem'),
    ];
    await using child = start(
      '--count',
      '3',
      '--vendors',
      'dell,hpe',
      '--https',
      '--port',
      '0',
      '--control-port',
      '0',
      '-o',
      'json',
      ...files,
    );
    const rows: { name: string; url: string }[] = JSON.parse(await readUntil(child, /\n\]\n/));
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['dell-0000', 'hpe-0001', 'dell-0002'],
    );
    assert.match(rows[0]?.url ?? '', /^https:\/\/127\.20\.0\.1:\d+$/);
    assert.match(await readFile(join(directory, 'p.yaml'), 'utf8'), /protocolScheme: https/);
    assert.match(await readFile(join(directory, 'ca.pem'), 'utf8'), /BEGIN CERTIFICATE/);
    const documents = (await readFile(join(directory, 'e.yaml'), 'utf8')).split('---\n');
    assert.equal(documents.length, 3);
    assert.match(
      documents[1] ?? '',
      /^apiVersion: .*\n {2}macAddress: "94:40:c9:00:01:00"\n {2}ip: "127\.20\.0\.2"\n$/s,
    );
    const exited = once(child, 'exit');
    child.kill('SIGINT');
    assert.deepEqual(await exited, [0, null]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test('an invalid option is explained', async () => {
  await using child = start('--vendors', 'acme');
  let text = '';
  for await (const chunk of child.stderr ?? []) text += String(chunk);
  assert.match(text, /expected some of generic, dell/);
});
