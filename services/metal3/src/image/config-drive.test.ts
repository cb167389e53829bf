import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configDriveMetaData, hostDataIn } from './config-drive.ts';

const host = { uid: 'u', name: 'n', namespace: 's' };

test('meta data has the identity of the host, and the Secret wins', () => {
  const own = { uuid: 'u', 'metal3-namespace': 's', 'metal3-name': 'n', 'local-hostname': 'n', local_hostname: 'n' };
  assert.deepEqual(configDriveMetaData(host), { ...own, name: 'n' });
  assert.deepEqual(configDriveMetaData(host, { name: 'other', role: 'worker' }), {
    ...own,
    name: 'other',
    role: 'worker',
  });
});

test('the data of a Secret is under its own key, or else under value', () => {
  assert.equal(hostDataIn({ userData: 'a', value: 'b' }, 'userData'), 'a');
  assert.equal(hostDataIn({ userData: 'a', value: 'b' }, 'networkData'), 'b');
  assert.equal(hostDataIn({ userData: 'a' }, 'metaData'), undefined);
});
