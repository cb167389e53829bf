import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runScript, type ScriptEnd } from './ipxe.ts';

interface BootServerFixture {
  scripts?: Record<string, string>;
  /** Failures of each image before it loads. */
  failures?: Record<string, number>;
}

async function run(text: string, { scripts = {}, failures = {} }: BootServerFixture = {}) {
  const echoed: string[] = [];
  const slept: number[] = [];
  const failuresLeft = new Map(Object.entries(failures));
  const end: ScriptEnd = await runScript(text, {
    url: 'http://boot/ipxe/abc',
    variables: { uuid: 'abc' },
    echo: (line) => echoed.push(line),
    sleep: async (ms) => void slept.push(ms),
    fetchScript: async (url) => scripts[url],
    fetchImage: async (url) => {
      const failing = failuresLeft.get(url) ?? 0;
      failuresLeft.set(url, failing - 1);
      return failing > 0 ? undefined : { url, bytes: 1, sha256: '' };
    },
  });
  return { end, echoed, slept };
}

const kernelOf = (end: ScriptEnd) => (end.kind === 'boot' ? `${end.kernel.url} ${end.commandLine}` : end.reason);

test('a script boots its kernel with command line and initrds', async () => {
  const { end } = await run(
    '#!ipxe\nset base http://boot\nkernel ${base}/k a=1 b=${uuid} --\ninitrd ${base}/i\ninitrd j\nboot\n',
  );
  assert.equal(kernelOf(end), 'http://boot/k a=1 b=abc --');
  assert.deepEqual(end.kind === 'boot' && end.initrds.map(({ url }) => url), ['http://boot/i', 'http://boot/ipxe/j']);
});

test('options before the URL are not part of the command line', async () => {
  const { end } = await run('#!ipxe\nkernel --name linux http://boot/k quiet\nboot');
  assert.equal(kernelOf(end), 'http://boot/k quiet');
});

test('a failed command ends the script unless a command follows ||', async () => {
  const failures = { 'http://boot/k': 1 };
  assert.match(kernelOf((await run('#!ipxe\nkernel http://boot/k\nboot', { failures })).end), /failed$/);
  assert.equal(
    kernelOf((await run('#!ipxe\nkernel http://boot/k ||\nkernel http://boot/l\nboot', { failures })).end),
    'http://boot/l ',
  );
});

test('a script with retries boots when its server is back', async () => {
  const text =
    '#!ipxe\n:load\nkernel http://boot/k || goto again\nboot || goto again\n:again\nimgfree\nsleep 5\ngoto load\n';
  const { end, slept } = await run(text, { failures: { 'http://boot/k': 2 } });
  assert.equal(kernelOf(end), 'http://boot/k ');
  assert.deepEqual(slept, [5_000, 5_000]);
});

test('variables may have types, and iseq and isset evaluate them', async () => {
  const text =
    '#!ipxe\nset tries:string ${tries}x\nset tries:string ${tries}x\niseq ${tries} xx && echo two ||\nisset ${nothing} || echo none\nexit 1\n';
  const { end, echoed } = await run(text);
  assert.deepEqual(echoed, ['two', 'none']);
  assert.equal(kernelOf(end), 'exit 1');
});

test('a URL with two pipes in its query is one word', async () => {
  const { end } = await run('#!ipxe\nkernel http://boot/k?a=b||c x\nboot');
  assert.equal(kernelOf(end), 'http://boot/k?a=b||c x');
});

test('a chained script replaces its caller with --replace', async () => {
  const scripts = { 'http://boot/next': '#!ipxe\nkernel k\nboot' };
  assert.equal(
    kernelOf((await run('#!ipxe\nchain --replace --autofree http://boot/next || exit 3', { scripts })).end),
    'http://boot/k ',
  );
  assert.equal(kernelOf((await run('#!ipxe\nchain --replace http://boot/gone || exit 3', { scripts })).end), 'exit 3');
});

test('the caller of a chained script continues when that exits', async () => {
  const scripts = { 'http://boot/next': '#!ipxe\nexit 1' };
  assert.equal(kernelOf((await run('#!ipxe\nchain http://boot/next || echo back\nexit 7', { scripts })).end), 'exit 7');
});

test('an EFI program is booted', async () => {
  const { end } = await run('#!ipxe\nchain http://boot/linux.efi', { scripts: { 'http://boot/linux.efi': 'MZ...' } });
  assert.equal(kernelOf(end), 'http://boot/linux.efi ');
});

test('a text without a script, an unknown command and an endless script do not boot', async () => {
  assert.match(kernelOf((await run('<html>')).end), /no iPXE script/);
  assert.match(kernelOf((await run('#!ipxe\nfrobnicate\nkernel http://boot/k\nboot')).end), /"frobnicate" failed/);
  assert.match(kernelOf((await run('#!ipxe\n:a\ngoto a')).end), /circle/);
  assert.match(
    kernelOf(
      (
        await run('#!ipxe\nchain --replace http://boot/a', {
          scripts: { 'http://boot/a': '#!ipxe\nchain --replace http://boot/a' },
        })
      ).end,
    ),
    /failed/,
  );
  assert.match(kernelOf((await run('#!ipxe\nboot')).end), /"boot" failed/);
});
