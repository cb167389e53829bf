import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { givesScript, scriptIn } from './custom-script.ts';

const { apiVersion, kind } = ServerBootConfiguration;
const boot: ServerBootConfiguration = {
  apiVersion,
  kind,
  metadata: { name: 'm', namespace: 'n', uid: 'now' },
  spec: { serverRef: { name: 's' } },
};
const config = (name: string | undefined, metadata: Partial<IPXEBootConfig['metadata']> = {}): IPXEBootConfig => ({
  apiVersion: IPXEBootConfig.apiVersion,
  kind: IPXEBootConfig.kind,
  metadata: { name: 'm', namespace: 'n', ...metadata },
  spec: { kernelURL: 'k', initrdURL: 'i', ...(name === undefined ? {} : { ipxeScriptSecretRef: { name } }) },
});
const ownedByBoot = (uid: string) => ({
  ownerReferences: [{ apiVersion, kind, name: 'm', uid, controller: true }],
});

const rows: readonly [title: string, config: IPXEBootConfig | undefined, gives: boolean][] = [
  ['one of a person', config('script'), true],
  ['one of this boot that a person added a script to', config('script', ownedByBoot('now')), true],
  ['one of an earlier boot of the name', config('script', ownedByBoot('before')), false],
  ['one that is being deleted', config('script', { deletionTimestamp: '2026-01-01T00:00:00Z' }), false],
  ['one that names no Secret', config(undefined), false],
  ['one that names an empty Secret', config(''), false],
  ['none', undefined, false],
];
for (const [title, object, gives] of rows)
  test(`${title} ${gives ? 'has a' : 'has no'} custom script`, () => assert.equal(givesScript(object, boot), gives));

for (const text of ['#!ipxe\nshell\n', '#!ipxe \r\nshell', '#!ipxe'])
  test(`${JSON.stringify(text)} is a script`, () => assert.equal(scriptIn(Buffer.from(text), 's'), text));

for (const [title, text, message] of [
  ['nothing', '', /expected #!ipxe as its first line/],
  ['a shell script', '#!/bin/sh\necho hunter2', /key "ipxe-script" of Secret "s" is no iPXE script/],
  ['an empty line first', '\n#!ipxe\n', /expected #!ipxe/],
  ['something like it', '#!ipxed\n', /expected #!ipxe/],
  ['64 KiB and a byte', `#!ipxe\n${'#'.repeat(65_530)}`, /has 65537 bytes; expected 65536 at most/],
] as const)
  test(`${title} is rejected without a quote`, () =>
    assert.throws(
      () => scriptIn(Buffer.from(text), 's'),
      (error: Error & { code?: string }) =>
        error.code === 'ScriptInvalid' && message.test(error.message) && !error.message.includes('hunter2'),
    ));
