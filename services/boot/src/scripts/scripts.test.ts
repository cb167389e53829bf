import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileArtefact } from '../images/artefact.ts';
import { entryScript, localBootScript, machineScript } from './scripts.ts';

const image = { name: 'os', kernel: fileArtefact('/k'), initrd: fileArtefact('/i'), commandLine: 'ip=dhcp quiet' };
const linesOf = (script: string): string[] => script.split('\n');

test('the script loads kernel and initrd and passes the URL of the ignition', () => {
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

test('the command line contains the URL of a squashfs', () => {
  const script = machineScript({
    server: 's',
    bootUrl: 'http://b',
    image: { ...image, squashfs: fileArtefact('/s') },
    withIgnition: false,
  });
  assert.match(
    script,
    /^kernel \S+ initrd=initrd gl\.ovl=\/:tmpfs gl\.url=http:\/\/b\/squashfs gl\.live=1 ip=dhcp quiet /m,
  );
});

test('an image with only a UKI is chained as an EFI program, with retries', () => {
  const uki = { name: 'os', uki: fileArtefact('/u'), commandLine: 'unused' };
  const script = machineScript({ server: 's', bootUrl: 'http://b', image: uki, withIgnition: true });
  assert.deepEqual(linesOf(script).slice(2, 5), [':load', 'chain http://b/uki.efi || goto again', ':again']);
});

test('the script of a boot without ignition contains no ignition URL', () => {
  assert.doesNotMatch(machineScript({ server: 's', bootUrl: 'http://b', image, withIgnition: false }), /ignition/);
});

test('the script of a machine never exits to another boot device', () => {
  assert.doesNotMatch(machineScript({ server: 's', bootUrl: 'http://b', image, withIgnition: true }), /exit|shell/);
});

test('the entry script chains to the script of the machine and exits after some retries', () => {
  assert.match(entryScript('http://boot.test'), /^chain .*http:\/\/boot\.test\/ipxe\/\$\{uuid\} \|\| /m);
  assert.match(entryScript('http://boot.test'), /&& exit 1/);
});

test('a reason cannot inject a command', () => {
  const script = localBootScript('s', 'state is "a || shell\nshell ${x}"');
  assert.deepEqual(linesOf(script).length, 4);
  assert.doesNotMatch(script, /\|\||\$\{/);
  assert.equal(linesOf(script)[2], 'exit 1');
});
