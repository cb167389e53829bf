import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const demo = fileURLToPath(import.meta.resolve('@metal/project/demo.ts'));

function runDemo(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [demo, '--once', ...args], (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

test('the demo runs the whole main path and prints the duration of each step', async () => {
  const { code, stdout, stderr } = await runDemo('--servers', '2');
  assert.equal(code, 0, stderr);
  for (const step of [
    'discover 2 servers, from MAC address to Available',
    'bind a claim with a selector to ',
    'boot the image of the claim',
    'Available again',
  ]) {
    assert.match(stdout, new RegExp(`✔ +\\d+\\.\\d s {2}.*${step}`));
  }
  assert.match(stdout, /per server: [\d.]+ API writes, [\d.]+ Redfish requests/);
  assert.match(stdout, /export KUBECONFIG=/);
});

test('the tour of BareMetalHosts writes an image to the disk of one, and frees it again', async () => {
  const { code, stdout, stderr } = await runDemo('--servers', '2', '--tour', 'metal3');
  assert.equal(code, 0, stderr);
  for (const step of [
    'create 2 BareMetalHosts; each is inspected, and available',
    'write an image to /dev/\\w+ of ',
    'remove the image; .* available again',
  ]) {
    assert.match(stdout, new RegExp(`✔ +\\d+\\.\\d s {2}.*${step}`));
  }
  assert.match(stdout, /get baremetalhosts,servers/);
});

test('a demo with a step that times out fails with the reason', async () => {
  const { code, stderr } = await runDemo('--servers', '3', '--timeout', '1');
  assert.equal(code, 1);
  assert.match(stderr, /demo: expected "every server is Available and off" within 1 s/);
  assert.match(stderr, /SERVER +MANUFACTURER +STATE +POWER +REASON/, 'with the last observed state');
});

test('an invalid number of servers is rejected', async () => {
  const { code, stderr } = await runDemo('--servers', 'many');
  assert.equal(code, 1);
  assert.match(stderr, /expected a number from 1 to 500/);
});
