import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { labsOfFile } from '@metal/lab/lab.ts';

const openLab = labsOfFile();

const text = ({ data }: BMCSecret, key: string): string => Buffer.from(data?.[key] ?? '', 'base64').toString();

test('clear text of a BMCSecret moves into data, also when it is written again', async () => {
  await using lab = await openLab();
  await lab.client.create(BMCSecret, {
    metadata: { name: 'given' },
    stringData: { username: 'root', password: 'first' },
  });
  const converted = await lab.secret('given').until('has no clear text', ({ stringData }) => stringData === undefined);
  assert.deepEqual([text(converted, 'username'), text(converted, 'password')], ['root', 'first']);

  await lab.client.mergePatch(BMCSecret, { name: 'given' }, { stringData: { password: 'second' } });
  const again = await lab.secret('given').until('has the new text in data', (secret) => {
    return secret.stringData === undefined && text(secret, 'password') === 'second';
  });
  assert.equal(text(again, 'username'), 'root');
});

test('a BMCSecret whose data and clear text differ keeps what v0.7.0 read, and says so', async () => {
  await using lab = await openLab();
  await lab.client.create(BMCSecret, {
    metadata: { name: 'given' },
    data: { username: 'cm9vdA==', password: 'Zmlyc3Q=' },
    stringData: { username: 'root', password: 'second' },
  });
  const { note } = await lab.tells('given', 'StringDataAmbiguous');
  assert.match(note, /differ in password; data counts/);
  const secret = await lab.secret('given').exists();
  assert.deepEqual([text(secret, 'password'), secret.stringData], ['first', { password: 'second' }]);
});

test('immutable BMCSecrets stay as they are, and with the flag all of them', async () => {
  await using lab = await openLab({ flags: ['--convert-bmc-secrets=false'] });
  const stringData = { username: 'root' };
  for (const immutable of [true, false])
    await lab.client.create(BMCSecret, { metadata: { name: `fixed-${immutable}` }, immutable, stringData });
  for (const immutable of [true, false]) {
    const { note, type } = await lab.tells(`fixed-${immutable}`, 'BMCSecretIncomplete');
    assert.equal(type, 'Warning');
    assert.match(note, /key password has no value/);
    assert.deepEqual(lab.secret(`fixed-${immutable}`).now?.stringData, stringData);
  }
});

test('an immutable BMCSecret with clear text is left alone', async () => {
  await using lab = await openLab();
  await lab.client.create(BMCSecret, {
    metadata: { name: 'fixed' },
    immutable: true,
    stringData: { username: 'root' },
  });
  await lab.tells('fixed', 'BMCSecretIncomplete');
  assert.deepEqual(lab.secret('fixed').now?.stringData, { username: 'root' });
});

test('a password that was changed by hand is not taken back by the Endpoint that gave the first one', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.bmc(node).reaches('Enabled');
  node.bmc.password = 'changed-by-hand';
  await lab.patchSecret(node.name, { password: 'changed-by-hand' });
  await lab.client.mergePatch(BMC, { name: node.name }, { metadata: { labels: { touched: 'yes' } } });
  await lab.server(node).says('Available');
  assert.equal(text(await lab.client.get(BMCSecret, { name: node.name }), 'password'), 'changed-by-hand');
});
