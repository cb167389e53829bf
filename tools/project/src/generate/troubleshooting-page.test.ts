import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { reasonSources } from './reason-sources.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/operate/troubleshooting.md'), 'utf8');

/** The five kinds of updates have one catalogue of reasons, and the five kinds of sets as well. */
for (const kind of ['BIOSSettings', 'ServerMaintenance', 'BIOSSettingsSet']) {
  test(`the page about symptoms has every reason for which a ${kind} waits`, () => {
    const waits = reasonSources
      .filter((source) => source.kind.kind === kind)
      .flatMap(({ reasons }) => Object.entries(reasons))
      .filter(([, { weight }]) => weight === 'waiting' || weight === 'needsPerson')
      .map(([reason]) => reason);
    assert.ok(waits.length > 9);
    assert.deepEqual(
      waits.filter((reason) => !page.includes(`reasons.md#${kind.toLowerCase()}-${reason.toLowerCase()})`)),
      [],
    );
  });
}
