import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, json, openStubClient } from '../../test/stub-bmc.ts';
import type { Bmc } from '../http/bmc.ts';
import { offersFormat, readEventService, readSubscriptions, subscribe, unsubscribe } from './subscriptions.ts';
import { readSystems } from './systems.ts';

const path = '/redfish/v1/EventService';
const subscriptions = `${path}/Subscriptions`;
const service = { isEnabled: true, subscriptions, formats: ['Event', 'MetricReport'], eventTypes: undefined };
const desired = { destination: 'http://192.0.2.1/alerts/x', context: 'metal-operator', format: 'Event' } as const;
const ownSubscription = { Destination: desired.destination, Context: desired.context };

async function withStub<T>(
  members: Record<string, object>,
  act: (bmc: Bmc, stub: StubBmc) => Promise<T>,
  postResponse?: { status: number; body?: object; location?: string },
): Promise<T> {
  await using stub = await StubBmc.start();
  stub.collection(subscriptions, members);
  stub.intercept = ({ method, path: requestedPath }, response) => {
    if (postResponse === undefined || method !== 'POST' || requestedPath !== subscriptions) return false;
    json(
      response,
      postResponse.status,
      postResponse.body,
      postResponse.location === undefined ? {} : { location: postResponse.location },
    );
    return true;
  };
  await using bmc = openStubClient(stub);
  return await act(bmc, stub);
}

const rejection = (id: string, message: string) => ({
  status: 400,
  body: { error: { message: 'no', '@Message.ExtendedInfo': [{ MessageId: `Base.1.8.${id}`, Message: message }] } },
});
const locations: [
  title: string,
  postResponse: { status: number; body?: object; location?: string },
  found: string | RegExp,
][] = [
  [
    'an absolute Location becomes a path',
    { status: 201, location: `https://idrac${subscriptions}/7` },
    `${subscriptions}/7`,
  ],
  ['a subscription without a Location is found in the list', { status: 201 }, `${subscriptions}/2`],
  [
    'an existing subscription is used instead of a duplicate',
    rejection('ResourceAlreadyExists', 'exists'),
    `${subscriptions}/2`,
  ],
  [
    'a duplicate is also recognised by its destination',
    rejection('PropertyValueModified', `${desired.destination} was modified`),
    `${subscriptions}/2`,
  ],
  ['any other rejection is an error', rejection('PropertyUnknown', 'Protocol is unknown'), /Protocol is unknown/],
];

for (const [title, postResponse, found] of locations) {
  test(title, () =>
    withStub(
      { '1': { Destination: desired.destination, Context: 'somebody else' }, '2': ownSubscription },
      async (bmc) => {
        if (typeof found === 'string') assert.equal(await subscribe(bmc, service, desired), found);
        else await assert.rejects(subscribe(bmc, service, desired), { message: found });
      },
      postResponse,
    ),
  );
}

test('a duplicate that is not in the list fails with the rejection', () =>
  withStub(
    {},
    async (bmc) => assert.rejects(subscribe(bmc, service, desired), { message: /exists elsewhere/ }),
    rejection('ResourceAlreadyExists', 'exists elsewhere'),
  ));

for (const [manufacturer, hasPolicy] of [
  ['Dell Inc.', true],
  ['HPE', false],
] as const) {
  test(`a subscription at a BMC of ${manufacturer} ${hasPolicy ? 'has' : 'lacks'} a retry policy`, () =>
    withStub(
      {},
      async (bmc, stub) => {
        stub.collection('/redfish/v1/Systems', { '1': { Manufacturer: manufacturer } });
        await readSystems(bmc);
        await subscribe(bmc, service, { ...desired, format: 'MetricReport' });
        const body = stub.received.at(-1)?.body;
        assert.deepEqual(body, {
          Destination: desired.destination,
          EventFormatType: 'MetricReport',
          Protocol: 'Redfish',
          Context: 'metal-operator',
          ...(hasPolicy ? { DeliveryRetryPolicy: 'TerminateAfterRetries' } : {}),
        });
      },
      { status: 201, location: `${subscriptions}/1` },
    ));
}

test('unreadable subscriptions are left out', () =>
  withStub({ '1': ownSubscription }, async (bmc, stub) => {
    stub.set(subscriptions, {
      Members: [{ '@odata.id': `${subscriptions}/1` }, { '@odata.id': `${subscriptions}/gone` }],
    });
    assert.deepEqual(
      (await readSubscriptions(bmc, service)).map(({ uri }) => uri),
      [`${subscriptions}/1`],
    );
  }));

test('an event service is enabled unless it reports otherwise, and may be missing', () =>
  withStub({}, async (bmc, stub) => {
    assert.equal(await readEventService(bmc), undefined);
    const offered = { Subscriptions: { '@odata.id': subscriptions }, EventFormatTypes: service.formats };
    stub.set(path, offered);
    await using later = openStubClient(stub);
    assert.deepEqual(await readEventService(later), service);
    stub.set(path, { ...offered, ServiceEnabled: false });
    assert.equal((await readEventService(later))?.isEnabled, false);
  }));

test('deleting a missing subscription is no error', () =>
  withStub({ '1': ownSubscription }, async (bmc, stub) => {
    await unsubscribe(bmc, `${subscriptions}/1`);
    await unsubscribe(bmc, `${subscriptions}/9`);
    assert.equal(stub.count(`DELETE ${subscriptions}/1`), 1);
  }));

test('a failing event service does not count as a failure of the BMC', () =>
  withStub({}, async (bmc, stub) => {
    stub.set(path, {});
    stub.intercept = ({ path: requestedPath }, response) => {
      if (!requestedPath.startsWith(path)) return false;
      json(response, 500, {});
      return true;
    };
    for (let time = 0; time < 10; time += 1) await assert.rejects(readEventService(bmc), { status: 500 });
    assert.equal(bmc.breaker, 'closed');
  }));

test('a service without a list of formats gets subscriptions without a format, with its types of events', () =>
  withStub(
    {},
    async (bmc, stub) => {
      stub.set(path, { Subscriptions: { '@odata.id': subscriptions }, EventTypesForSubscription: ['Alert'] });
      const old = await readEventService(bmc);
      assert.ok(old !== undefined && offersFormat(old, 'Event') && !offersFormat(old, 'MetricReport'));
      await subscribe(bmc, old, desired);
      const body = stub.received.at(-1)?.body;
      assert.partialDeepStrictEqual(body, { EventTypes: ['Alert'] });
      assert.ok(!('EventFormatType' in (body as object)));
    },
    { status: 201, location: `${subscriptions}/1` },
  ));

test('only the formats that the service lists are offered', () => {
  assert.ok(offersFormat(service, 'MetricReport'));
  assert.ok(!offersFormat({ ...service, formats: ['Event'] }, 'MetricReport'));
});

test('events are subscribed without a format where the service rejects the property', () =>
  withStub({}, async (bmc, stub) => {
    stub.intercept = ({ method, path: requestedPath, body }, response) => {
      if (method !== 'POST' || requestedPath !== subscriptions) return false;
      const isRejected = 'EventFormatType' in (body as object);
      json(response, isRejected ? 400 : 201, {}, isRejected ? {} : { location: `${subscriptions}/3` });
      return true;
    };
    assert.equal(await subscribe(bmc, service, desired), `${subscriptions}/3`);
    await assert.rejects(subscribe(bmc, service, { ...desired, format: 'MetricReport' }), { status: 400 });
  }));
