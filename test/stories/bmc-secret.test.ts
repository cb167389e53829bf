import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();

const text = ({ data }: BMCSecret, key: string): string => Buffer.from(data?.[key] ?? '', 'base64').toString();

test('clear text of a BMCSecret moves into data, also when it is written again', async () => {
  await using testenv = await startTestenv();
  await testenv.client.create(BMCSecret, {
    metadata: { name: 'given' },
    stringData: { username: 'root', password: 'first' },
  });
  const converted = await testenv.secrets
    .named('given')
    .until('has no clear text', ({ stringData }) => stringData === undefined);
  assert.deepEqual([text(converted, 'username'), text(converted, 'password')], ['root', 'first']);

  await testenv.client.mergePatch(BMCSecret, { name: 'given' }, { stringData: { password: 'second' } });
  const again = await testenv.secrets.named('given').until('has the new text in data', (secret) => {
    return secret.stringData === undefined && text(secret, 'password') === 'second';
  });
  assert.equal(text(again, 'username'), 'root');
});

test('a BMCSecret with different data and clear text keeps the value that v0.7.0 read, and reports the conflict', async () => {
  await using testenv = await startTestenv();
  await testenv.client.create(BMCSecret, {
    metadata: { name: 'given' },
    data: { username: 'cm9vdA==', password: 'Zmlyc3Q=' },
    stringData: { username: 'root', password: 'second' },
  });
  const { note } = await testenv.hasEvent('given', 'StringDataAmbiguous');
  assert.match(note, /differ in password; data counts/);
  const secret = await testenv.secrets
    .named('given')
    .until('has clear text only where it differs', ({ stringData }) => stringData?.username === undefined);
  assert.deepEqual([text(secret, 'password'), secret.stringData], ['first', { password: 'second' }]);
});

test('immutable BMCSecrets stay unchanged, and with --convert-bmc-secrets=false all BMCSecrets do', async () => {
  await using testenv = await startTestenv({ flags: ['--convert-bmc-secrets=false'] });
  const stringData = { username: 'root' };
  for (const immutable of [true, false])
    await testenv.client.create(BMCSecret, { metadata: { name: `fixed-${immutable}` }, immutable, stringData });
  for (const immutable of [true, false]) {
    const { note, type } = await testenv.hasEvent(`fixed-${immutable}`, 'BMCSecretIncomplete');
    assert.equal(type, 'Warning');
    assert.match(note, /key password has no value/);
    assert.deepEqual(testenv.secrets.named(`fixed-${immutable}`).now?.stringData, stringData);
  }
});

test('an immutable BMCSecret with clear text is not converted', async () => {
  await using testenv = await startTestenv();
  await testenv.client.create(BMCSecret, {
    metadata: { name: 'fixed' },
    immutable: true,
    stringData: { username: 'root' },
  });
  await testenv.hasEvent('fixed', 'BMCSecretIncomplete');
  assert.deepEqual(testenv.secrets.named('fixed').now?.stringData, { username: 'root' });
});

test('a password changed by hand is not overwritten by the Endpoint', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.bmc(node).reaches('Enabled');
  node.bmc.password = 'changed-by-hand';
  await testenv.secrets.setTexts(node.name, { password: 'changed-by-hand' });
  await testenv.client.mergePatch(BMC, { name: node.name }, { metadata: { labels: { touched: 'yes' } } });
  await testenv.server(node).hasReason('Available');
  assert.equal(text(await testenv.client.get(BMCSecret, { name: node.name }), 'password'), 'changed-by-hand');
});
