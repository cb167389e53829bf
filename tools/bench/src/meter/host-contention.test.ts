import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostProcessIn } from './host-contention.ts';

test('a program is identified by its path, the fleet by the script of node', () => {
  assert.equal(hostProcessIn(['/cache/etcd', '--name=x']), 'etcd');
  const fleet = '/a/tools/simulator/bin/../src/main.ts';
  assert.equal(
    hostProcessIn(['/a/.bin/node', '--disable-warning=ExperimentalWarning', fleet, '--count=1']),
    'metal-fleet',
  );
});

test('neither an operator nor the shell of a program is counted as host contention', () => {
  assert.equal(hostProcessIn(['/a/.bin/node', '/a/services/all-in-one/bin/../src/main.ts']), undefined);
  assert.equal(hostProcessIn(['/bin/sh', '-c', 'supervise', 'etcd', '', '/cache/etcd']), undefined);
});
