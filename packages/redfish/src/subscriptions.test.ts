import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeskBmc, json, talkTo } from '../test/desk-bmc.ts';
import type { Bmc } from './bmc.ts';
import { readEventService, readSubscriptions, subscribe, unsubscribe } from './subscriptions.ts';
import { readSystems } from './systems.ts';

const path = '/redfish/v1/EventService';
const subscriptions = `${path}/Subscriptions`;
const service = { isEnabled: true, subscriptions };
const wish = { destination: 'http://192.0.2.1/alerts/x', context: 'metal-operator', format: 'Event' } as const;
const ours = { Destination: wish.destination, Context: wish.context };

async function onDesk<T>(
  members: Record<string, object>,
  act: (bmc: Bmc, desk: DeskBmc) => Promise<T>,
  answer?: { status: number; body?: object; location?: string },
): Promise<T> {
  await using desk = await DeskBmc.start();
  desk.collection(subscriptions, members);
  desk.intercept = ({ method, path: asked }, response) => {
    if (answer === undefined || method !== 'POST' || asked !== subscriptions) return false;
    json(response, answer.status, answer.body, answer.location === undefined ? {} : { location: answer.location });
    return true;
  };
  await using bmc = talkTo(desk);
  return await act(bmc, desk);
}

const refusal = (id: string, message: string) => ({
  status: 400,
  body: { error: { message: 'no', '@Message.ExtendedInfo': [{ MessageId: `Base.1.8.${id}`, Message: message }] } },
});
const locations: [
  title: string,
  answer: { status: number; body?: object; location?: string },
  found: string | RegExp,
][] = [
  [
    'an absolute Location becomes a path',
    { status: 201, location: `https://idrac${subscriptions}/7` },
    `${subscriptions}/7`,
  ],
  ['without a Location the subscription is searched for', { status: 201 }, `${subscriptions}/2`],
  ['a duplicate is taken for ours', refusal('ResourceAlreadyExists', 'exists'), `${subscriptions}/2`],
  [
    'a duplicate told by its destination, too',
    refusal('PropertyValueModified', `${wish.destination} was modified`),
    `${subscriptions}/2`,
  ],
  ['another refusal is an error', refusal('PropertyUnknown', 'Protocol is unknown'), /Protocol is unknown/],
];

for (const [title, answer, found] of locations) {
  test(title, () =>
    onDesk(
      { '1': { Destination: wish.destination, Context: 'somebody else' }, '2': ours },
      async (bmc) => {
        if (typeof found === 'string') assert.equal(await subscribe(bmc, service, wish), found);
        else await assert.rejects(subscribe(bmc, service, wish), { message: found });
      },
      answer,
    ),
  );
}

test('a duplicate that cannot be found is told as it was refused', () =>
  onDesk(
    {},
    async (bmc) => assert.rejects(subscribe(bmc, service, wish), { message: /exists elsewhere/ }),
    refusal('ResourceAlreadyExists', 'exists elsewhere'),
  ));

for (const [manufacturer, hasPolicy] of [
  ['Dell Inc.', true],
  ['HPE', false],
] as const) {
  test(`a subscription at ${manufacturer} ${hasPolicy ? 'has' : 'lacks'} a retry policy`, () =>
    onDesk(
      {},
      async (bmc, desk) => {
        desk.collection('/redfish/v1/Systems', { '1': { Manufacturer: manufacturer } });
        await readSystems(bmc);
        await subscribe(bmc, service, { ...wish, format: 'MetricReport' });
        const body = desk.seen.at(-1)?.body;
        assert.deepEqual(body, {
          Destination: wish.destination,
          EventFormatType: 'MetricReport',
          Protocol: 'Redfish',
          Context: 'metal-operator',
          ...(hasPolicy ? { DeliveryRetryPolicy: 'TerminateAfterRetries' } : {}),
        });
      },
      { status: 201, location: `${subscriptions}/1` },
    ));
}

test('subscriptions that cannot be read are left out', () =>
  onDesk({ '1': ours }, async (bmc, desk) => {
    desk.set(subscriptions, {
      Members: [{ '@odata.id': `${subscriptions}/1` }, { '@odata.id': `${subscriptions}/gone` }],
    });
    assert.deepEqual(
      (await readSubscriptions(bmc, service)).map(({ uri }) => uri),
      [`${subscriptions}/1`],
    );
  }));

test('an event service is enabled unless it says otherwise, and may be missing', () =>
  onDesk({}, async (bmc, desk) => {
    assert.equal(await readEventService(bmc), undefined);
    desk.set(path, {});
    assert.deepEqual(await readEventService(bmc), service);
    desk.set(path, { ServiceEnabled: false });
    assert.equal((await readEventService(bmc))?.isEnabled, false);
  }));

test('a subscription that is gone already needs no ending', () =>
  onDesk({ '1': ours }, async (bmc, desk) => {
    await unsubscribe(bmc, `${subscriptions}/1`);
    await unsubscribe(bmc, `${subscriptions}/9`);
    assert.equal(desk.count(`DELETE ${subscriptions}/1`), 1);
  }));

test('a failing event service does not make the BMC a failing one', () =>
  onDesk({}, async (bmc, desk) => {
    desk.intercept = ({ path: asked }, response) => {
      if (!asked.startsWith(path)) return false;
      json(response, 500, {});
      return true;
    };
    for (let time = 0; time < 10; time += 1) await assert.rejects(readEventService(bmc), { status: 500 });
    assert.equal(bmc.breaker, 'closed');
  }));
