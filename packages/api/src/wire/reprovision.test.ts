import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReprovisionPending } from './reprovision.ts';

const rows: [
  about: string,
  expected: boolean,
  mark: string | undefined,
  served?: string | undefined,
  created?: string,
][] = [
  ['no mark', false, undefined],
  ['a mark', true, '2026-03-01T00:00:00.000Z'],
  ['a mark that was served', false, '2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
  ['a later mark', true, '2026-03-01T00:00:00.001Z', '2026-03-01T00:00:00.000Z'],
  ['a mark that is older than the Server', false, '2026-03-01T00:00:00.000Z', undefined, '2026-03-02T00:00:00Z'],
  ['a mark after the Server, in its second', true, '2026-03-01T00:00:00.500Z', undefined, '2026-03-01T00:00:00Z'],
  ['a mark of the same time in another zone', false, '2026-03-01T02:00:00+02:00', '2026-03-01T00:00:00Z'],
  ['a mark that is no time', false, 'yes'],
];
for (const [about, expected, mark, servedReprovision, creationTimestamp] of rows) {
  test(`${about} is ${expected ? 'a' : 'no'} pending request to reprovision`, () => {
    const server = {
      apiVersion: 'metal.ironcore.dev/v1alpha1',
      kind: 'Server',
      metadata: { name: 's', ...(creationTimestamp === undefined ? {} : { creationTimestamp }) },
      spec: { systemUUID: 'u' },
      status: servedReprovision === undefined ? {} : { servedReprovision },
    };
    assert.equal(isReprovisionPending(server, mark), expected);
  });
}
