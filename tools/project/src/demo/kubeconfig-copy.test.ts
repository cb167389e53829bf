import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyKubeconfig } from './kubeconfig-copy.ts';

const content = `
apiVersion: v1
kind: Config
current-context: lab
contexts: [{ name: lab, context: { cluster: one, user: me } }]
clusters: [{ name: one, cluster: { server: 'https://192.0.2.1:6443', certificate-authority: ca.crt } }]
users: [{ name: me, user: { tokenFile: /run/token } }]
`;

async function open() {
  const path = await mkdtemp(join(tmpdir(), 'metal-kubeconfig-test-'));
  await mkdir(join(path, 'copy'));
  return { path, copy: join(path, 'copy'), [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

test('the copy names server and context, and its files are found from everywhere', async () => {
  await using directory = await open();
  await writeFile(join(directory.path, 'config'), content);
  const { path, ...rest } = await copyKubeconfig(join(directory.path, 'config'), directory.copy);
  assert.deepEqual(rest, { server: 'https://192.0.2.1:6443', context: 'lab' });
  const text = await readFile(path, 'utf8');
  assert.ok(text.includes(`certificate-authority: ${directory.path}/ca.crt`));
  assert.match(text, /tokenFile: \/run\/token/);
});

test('a missing file, and a file without a current context, are errors', async () => {
  await using directory = await open();
  const file = join(directory.path, 'config');
  await assert.rejects(copyKubeconfig(file, directory.copy), { message: /expected a kubeconfig file, cannot read / });
  await writeFile(file, content.replace('current-context: lab\n', ''));
  await assert.rejects(copyKubeconfig(file, directory.copy), { message: /expected a current context with a cluster/ });
});
