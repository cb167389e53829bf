import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, json, openStubClient } from '../../test/stub-bmc.ts';
import { type LocatorLight, setLocatorLed } from './led.ts';

const uri = '/redfish/v1/Systems/1';

async function changes(resource: object, light: LocatorLight, rejectedBody?: object): Promise<unknown[]> {
  await using stub = await StubBmc.start();
  stub.set(uri, resource);
  stub.intercept = ({ method, body }, response) => {
    const isRejected =
      method === 'PATCH' && rejectedBody !== undefined && JSON.stringify(body) === JSON.stringify(rejectedBody);
    if (isRejected) json(response, 400, {});
    return isRejected;
  };
  await using bmc = openStubClient(stub);
  await setLocatorLed(bmc, uri, light);
  return stub.received.filter(({ method }) => method === 'PATCH').map(({ body }) => body);
}

test('LocationIndicatorActive is used when the BMC has it', async () => {
  assert.deepEqual(await changes({ LocationIndicatorActive: false, IndicatorLED: 'Off' }, 'Lit'), [
    { LocationIndicatorActive: true },
  ]);
  assert.deepEqual(await changes({ LocationIndicatorActive: true }, 'Off'), [{ LocationIndicatorActive: false }]);
});

test('IndicatorLED is used when the BMC has no LocationIndicatorActive', async () => {
  assert.deepEqual(await changes({ IndicatorLED: 'Off' }, 'Blinking'), [{ IndicatorLED: 'Blinking' }]);
});

test('a light in the desired state is not changed', async () => {
  assert.deepEqual(await changes({ LocationIndicatorActive: true }, 'Lit'), []);
  assert.deepEqual(await changes({ IndicatorLED: 'Off' }, 'Off'), []);
});

test('a light that cannot be lit steadily blinks', async () => {
  const lit = { IndicatorLED: 'Lit' };
  assert.deepEqual(await changes({ IndicatorLED: 'Off' }, 'Lit', lit), [lit, { IndicatorLED: 'Blinking' }]);
});

test('a system without a light is NotSupported', async () => {
  await assert.rejects(changes({}, 'Lit'), { code: 'NotSupported', message: /no locator light/ });
});
