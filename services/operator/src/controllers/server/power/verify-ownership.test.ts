import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { serverActions } from '../actions.ts';
import type { ServerReconcile } from '../machine.ts';
import { calmServer } from '../../../../test/server/table.rows.ts';
import { changeSince } from './verify-ownership.ts';

type Change = Partial<Server['spec']> & { readonly metadata?: Partial<Server['metadata']> };

const serverWith = ({ metadata = {}, ...spec }: Change = {}): Server => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name: 'one', uid: 'uid-1', ...metadata },
  spec: { systemUUID: 'a', systemURI: '/redfish/v1/Systems/1', ...spec },
});
const claim = { serverClaimRef: { namespace: 'team', name: 'c', uid: 'claim-1' } };
const maintenance = { serverMaintenanceRef: { namespace: 'team', name: 'm' } };
const annotated = (value: string) => ({ metadata: { annotations: { 'metal.ironcore.dev/operation': value } } });

const rows: [string, Change, Change | undefined, string | undefined][] = [
  ['nothing has changed', {}, {}, undefined],
  ['the same claim has it', claim, claim, undefined],
  ['the same maintenance has it', maintenance, maintenance, undefined],
  ['another field changed', {}, { power: 'On', metadata: { labels: { rack: '2' } } }, undefined],
  ['another operation is asked for', {}, annotated('park'), undefined],
  [
    'it was already being deleted',
    { metadata: { deletionTimestamp: 'x' } },
    { metadata: { deletionTimestamp: 'x' } },
    undefined,
  ],
  ['a claim was bound', {}, claim, 'its claim is team/c (claim-1), expected none'],
  ['its claim let it go', claim, {}, 'its claim is none, expected team/c (claim-1)'],
  [
    'the claim was made anew',
    claim,
    { serverClaimRef: { namespace: 'team', name: 'c', uid: 'claim-2' } },
    'its claim is team/c (claim-2), expected team/c (claim-1)',
  ],
  ['a maintenance began', {}, maintenance, 'its maintenance is team/m, expected none'],
  ['it was paused', {}, annotated('ignore'), 'it is paused by annotation'],
  ['its machine is to be adopted', {}, annotated('adopt'), 'a claim is to adopt it as it is'],
  ['that was known', annotated('adopt'), annotated('adopt'), undefined],
  ['another object has the name', {}, { metadata: { uid: 'uid-2' } }, 'it was deleted'],
  ['it is being deleted', {}, { metadata: { deletionTimestamp: 'x' } }, 'it is being deleted'],
  ['it is gone', {}, undefined, 'it was deleted'],
];

for (const [what, observed, live, expected] of rows)
  test(`the change since the decision is described: ${what}`, () => {
    assert.equal(changeSince(serverWith(observed), live && serverWith(live)), expected);
  });

for (const action of ['powerOff', 'forceOff'] as const)
  test(`${action} reads the Server from the API server first, and sends nothing if a claim has it`, async () => {
    const requested: unknown[] = [];
    const client = {
      find: async (_kind: unknown, ref: unknown) => {
        requested.push(ref);
        return serverWith(claim);
      },
    };
    const bmc = new Proxy({}, { get: (_, name) => assert.fail(`unexpected BMC request ${String(name)}`) });
    const bmcConnections = {
      observedSystem: () => ({ transition: undefined }),
      withBmc: (_name: string, _connection: unknown, callback: (bmc: unknown) => Promise<unknown>) => callback(bmc),
    };
    const reconcile = {
      object: serverWith(),
      facts: { ...calmServer, connection: {} },
      context: { client, bmcConnections, clock: systemClock, config: { bmcTls: 'verify' } },
    };
    // The members of a reconcile that a power-off uses.
    await assert.rejects(serverActions[action](reconcile as unknown as ServerReconcile), {
      code: 'StaleDecision',
      message: /its claim is team\/c \(claim-1\), expected none; nothing was sent/,
    });
    assert.deepEqual(requested, [{ name: 'one' }]);
  });
