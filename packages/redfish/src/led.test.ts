import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeskBmc, json, talkTo } from '../test/desk-bmc.ts';
import { type LocatorLight, setLocatorLed } from './led.ts';

const uri = '/redfish/v1/Systems/1';

async function changes(resource: object, light: LocatorLight, refused?: object): Promise<unknown[]> {
  await using desk = await DeskBmc.start();
  desk.set(uri, resource);
  desk.intercept = ({ method, body }, response) => {
    const isRefused = method === 'PATCH' && refused !== undefined && JSON.stringify(body) === JSON.stringify(refused);
    if (isRefused) json(response, 400, {});
    return isRefused;
  };
  await using bmc = talkTo(desk);
  await setLocatorLed(bmc, uri, light);
  return desk.seen.filter(({ method }) => method === 'PATCH').map(({ body }) => body);
}

test('the newer property is used where the BMC has it', async () => {
  assert.deepEqual(await changes({ LocationIndicatorActive: false, IndicatorLED: 'Off' }, 'Lit'), [
    { LocationIndicatorActive: true },
  ]);
  assert.deepEqual(await changes({ LocationIndicatorActive: true }, 'Off'), [{ LocationIndicatorActive: false }]);
});

test('the older property is used where there is no other', async () => {
  assert.deepEqual(await changes({ IndicatorLED: 'Off' }, 'Blinking'), [{ IndicatorLED: 'Blinking' }]);
});

test('a light that is as wanted is left alone', async () => {
  assert.deepEqual(await changes({ LocationIndicatorActive: true }, 'Lit'), []);
  assert.deepEqual(await changes({ IndicatorLED: 'Off' }, 'Off'), []);
});

test('a light that cannot be steady blinks', async () => {
  const lit = { IndicatorLED: 'Lit' };
  assert.deepEqual(await changes({ IndicatorLED: 'Off' }, 'Lit', lit), [lit, { IndicatorLED: 'Blinking' }]);
});

test('a system without a light says so', async () => {
  await assert.rejects(changes({}, 'Lit'), { code: 'NotSupported', message: /no locator light/ });
});
