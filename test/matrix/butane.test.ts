import assert from 'node:assert/strict';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Butane } from '@metal/boot/ignition/butane.ts';
import type { BootError } from '@metal/boot/errors.ts';
import { findButane } from '@metal/project/butane.ts';
import { directoryWith } from '@metal/testenv/cluster/service-fixture.ts';

const head = 'variant: fcos\nversion: 1.3.0\n';
let program: string;

before(async () => {
  program = await findButane({ environment: process.env, log: () => undefined });
});

const translate = async (text: string, options: { program?: string; timeoutMs?: number } = {}): Promise<string> => {
  using butane = new Butane({ program, ...options });
  return (await butane.translate(Buffer.from(text))).toString();
};

/** A program that counts its starts in a file beside it. */
async function programThat(does: string): Promise<AsyncDisposable & { path: string }> {
  const directory = await directoryWith({ butane: `#!/bin/sh\necho x >> "$0.runs"\n${does}\n` });
  const path = join(directory.path, 'butane');
  await chmod(path, 0o755);
  return { ...directory, path };
}

test('Butane is translated to Ignition', async () => {
  const long = 'a line that is worth packing\n'.repeat(200);
  const text = `${head}storage: {files: [{path: /etc/motd, mode: 0644, contents: {inline: ${JSON.stringify(long)}}}]}`;
  const { ignition, storage } = JSON.parse(await translate(text)) as {
    ignition: { version: string };
    storage: { files: { mode: number; contents: { source: string; compression: string } }[] };
  }; // Ignition 3.2.0
  assert.equal(ignition.version, '3.2.0');
  const [file] = storage.files;
  assert.equal(file?.mode, 0o644);
  assert.equal(file.contents.compression, 'gzip');
  const packed = Buffer.from(file.contents.source.replace(/^data:;base64,/, ''), 'base64');
  assert.equal(gunzipSync(packed).toString(), long);
});

test('a MachineConfig of OpenShift is translated to Ignition', async () => {
  const labels = '{machineconfiguration.openshift.io/role: worker}';
  const text = `variant: openshift\nversion: 4.14.0\nmetadata: {name: x, labels: ${labels}}\n`;
  assert.deepEqual(JSON.parse(await translate(text)), { ignition: { version: '3.4.0' } });
});

for (const [title, text, expectedMessage] of [
  [
    'an unknown key',
    `${head}passwd:\n  users:\n    - name: a\n      passwort_hash: hunter2\n`,
    /line 6 column 7: unknown key/,
  ],
  [
    'a wrong type',
    `${head}storage:\n  files:\n    - path: /a\n      mode: hunter2\n`,
    /line 6 column 13: expected a number/,
  ],
  ['bad YAML', `${head}passwd: [hunter2\nx: "`, /line 4 column \d+: no YAML/],
  ['an unknown variant', 'variant: hunter2\nversion: 1.0.0\n', /line 2 column 10: butane does not know this variant/],
  ['no variant', '#hunter2\na: 1', /line 1 column 1: expected variant/],
  ['text that is not a map', 'hunter2', /line 1 column 1: expected a map, found text/],
  ['nothing', '', /line 1 column 1: expected variant/],
  [
    'an enabled unit without an install section',
    `${head}systemd:\n  units:\n    - {name: hunter2.service, enabled: true, contents: "[Unit]\\n"}\n`,
    /line 5 column \d+: unit … is enabled, but/,
  ],
  [
    'a local file of the translating host',
    `${head}storage:\n  files:\n    - path: /x\n      contents: {local: ../../etc/hunter2}\n`,
    /line 6 column 25: local file paths/,
  ],
  [
    'local SSH keys of the translating host',
    `variant: fcos\nversion: 1.5.0\npasswd:\n  users:\n    - {name: a, ssh_authorized_keys_local: [/etc/hunter2]}\n`,
    /line 5 column \d+: local file paths/,
  ],
  [
    'a local directory of the translating host',
    `variant: fcos\nversion: 1.4.0\nstorage:\n  trees:\n    - local: /etc\n`,
    /line 5 column 7: local file paths/,
  ],
] as const) {
  test(`${title} is rejected with line and column, and without the document's text`, () =>
    assert.rejects(translate(text), ({ code, message, cause }: BootError) => {
      assert.equal(code, 'IgnitionInvalid');
      assert.match(message, expectedMessage);
      assert.doesNotMatch(message, /hunter2/);
      assert.equal(cause, undefined, 'a cause would put the report into logs');
      return true;
    }));
}

test('a missing program is reported with its option', () =>
  assert.rejects(translate(head, { program: '/nowhere/butane' }), {
    code: 'IgnitionTranslatorMissing',
    message: /"\/nowhere\/butane" cannot be run \(ENOENT\).* install butane .* --butane/,
  }));

test('a program that does not end, or prints too much, is killed', async () => {
  await using hanging = await programThat('exec sleep 60');
  await assert.rejects(translate(head, { program: hanging.path, timeoutMs: 300 }), {
    code: 'IgnitionTranslatorFailed',
    message: /took too long/,
  });
  await using loud = await programThat('exec yes');
  await assert.rejects(translate(head, { program: loud.path }), { code: 'IgnitionTranslatorFailed' });
});

test('a document is translated once for any number of requests, and rejected once', async () => {
  await using counting = await programThat(`exec ${program} "$@"`);
  using butane = new Butane({ program: counting.path });
  const bad = `${head}a: 1\n`;
  for (let round = 0; round < 2; round += 1) {
    const results = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) => butane.translate(Buffer.from(index % 2 === 0 ? head : bad))),
    );
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 50);
  }
  assert.equal((await runsOf(counting.path)).length, 2);
});

test('the program gets nothing of the document in its arguments', async () => {
  await using showing = await programThat('echo "$@" > "$0.args"; env > "$0.env"; cat');
  await translate('hunter2', { program: showing.path });
  assert.equal(await readFile(`${showing.path}.args`, 'utf8'), '--strict --raw\n');
  assert.doesNotMatch(await readFile(`${showing.path}.env`, 'utf8'), /hunter2/);
});

test('at most two documents are translated at a time', async () => {
  await using slow = await programThat(
    'ls "$0".at.* 2>/dev/null | wc -l >> "$0.before"; touch "$0.at.$$"; cat; rm "$0.at.$$"',
  );
  using butane = new Butane({ program: slow.path });
  await Promise.all(Array.from({ length: 12 }, (_, index) => butane.translate(Buffer.from(String(index)))));
  const others = (await readFile(`${slow.path}.before`, 'utf8')).trim().split('\n').map(Number);
  assert.equal(others.length, 12);
  assert.ok(Math.max(...others) <= 1, `at most one other runs: ${others.join(' ')}`);
});

const runsOf = async (path: string): Promise<string[]> => (await readFile(`${path}.runs`, 'utf8')).trim().split('\n');
