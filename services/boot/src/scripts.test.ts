import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileArtefact } from './artefact.ts';
import { entryScript, localBootScript, machineScript } from './scripts.ts';

const image = { kernel: fileArtefact('/k'), initrd: fileArtefact('/i'), commandLine: 'ip=dhcp quiet' };
const linesOf = (script: string): string[] => script.split('\n');

test('a machine loads kernel and initrd and learns where its ignition is', () => {
  const script = machineScript({ server: 's', bootUrl: 'http://boot.test/boot/t', image, withIgnition: true });
  assert.equal(linesOf(script)[0], '#!ipxe');
  const kernel = linesOf(script).find((line) => line.startsWith('kernel')) ?? '';
  assert.deepEqual(kernel.split(' '), [
    'kernel',
    'http://boot.test/boot/t/kernel',
    'initrd=initrd',
    'ip=dhcp',
    'quiet',
    'ignition.firstboot=1',
    'ignition.platform.id=metal',
    'ignition.config.url=http://boot.test/boot/t/ignition',
    'metal.boot.evidence=http://boot.test/boot/t/booted',
    '||',
    'goto',
    'again',
  ]);
  assert.ok(linesOf(script).includes('initrd http://boot.test/boot/t/initrd || goto again'));
});

test('a boot without ignition mentions none', () => {
  assert.doesNotMatch(machineScript({ server: 's', bootUrl: 'http://b', image, withIgnition: false }), /ignition/);
});

test('a machine that was sent to the network never falls through to another device', () => {
  assert.doesNotMatch(machineScript({ server: 's', bootUrl: 'http://b', image, withIgnition: true }), /exit|shell/);
});

test('the entry script leads to the script of the machine and ends after some tries', () => {
  assert.match(entryScript('http://boot.test'), /^chain .*http:\/\/boot\.test\/ipxe\/\$\{uuid\} \|\| /m);
  assert.match(entryScript('http://boot.test'), /&& exit 1/);
});

test('nothing in a reason can become a command', () => {
  const script = localBootScript('s', 'state is "a || shell\nshell ${x}"');
  assert.deepEqual(linesOf(script).length, 4);
  assert.doesNotMatch(script, /\|\||\$\{/);
  assert.equal(linesOf(script)[2], 'exit 1');
});
