import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { openHome } from './home-for-tests.ts';
import { lockCache, placesOf } from './prepare.ts';

test('checkouts of other versions wait for each other, because they share archives', async () => {
  await using home = await openHome({});
  const waiting = Promise.withResolvers<string>();
  const places = await placesOf({ environment: home.environment, log: waiting.resolve }, undefined);
  const first = await lockCache(places);
  const recipe = { ...places.recipe, directory: `${places.recipe.directory}-other` };
  const second = lockCache({ ...places, recipe });
  const seen = await Promise.race([waiting.promise, second.then(() => 'locked')]);
  await first[Symbol.asyncDispose]();
  await (await second)[Symbol.asyncDispose]();
  assert.match(seen, /another process prepares/);
});

test('only the user can read a new cache', async () => {
  await using home = await openHome({});
  const places = await placesOf({ environment: home.environment, log: () => undefined }, undefined);
  await using _lock = await lockCache(places);
  const folder = dirname(places.recipe.directory);
  for (const path of [folder, dirname(folder)]) assert.equal((await stat(path)).mode & 0o777, 0o700);
});
