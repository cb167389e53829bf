import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { deploymentOf } from './deployment.ts';

interface Content {
  readonly url?: string;
  readonly method?: string;
}
const parts = ({ url, method }: Content) => ({
  ...(url === undefined ? {} : { image: { url } }),
  ...(method === undefined ? {} : { customDeploy: { method } }),
});

function of(wanted: Content, recorded: Content | undefined) {
  const spec = { online: true, automatedCleaningMode: 'metadata', ...parts(wanted) } as const;
  if (recorded === undefined) return deploymentOf({ spec, status: undefined });
  const status: NonNullable<BareMetalHost['status']> = {
    operationalStatus: 'OK',
    errorMessage: '',
    errorCount: 0,
    provisioningFailCount: 0,
    poweredOn: true,
    provisioning: { state: 'provisioned', ID: 'i', ...parts(recorded) },
  };
  return deploymentOf({ spec, status });
}

/** wanted: a deployment has to begin; cancelled: the present one has to end. */
const rows: [title: string, wanted: Content, recorded: Content | undefined, isWanted: boolean, isCancelled: boolean][] =
  [
    ['nothing at all', {}, undefined, false, true],
    ['an image, nothing recorded', { url: 'a' }, {}, true, false],
    ['an image with an empty URL', { url: '' }, {}, false, true],
    ['the same image', { url: 'a' }, { url: 'a' }, false, false],
    ['another image', { url: 'b' }, { url: 'a' }, false, true],
    ['no image any more', {}, { url: 'a' }, false, true],
    ['a method, nothing recorded', { method: 'm' }, { url: '' }, true, false],
    ['the same method', { method: 'm' }, { method: 'm' }, false, false],
    ['another method', { method: 'n' }, { method: 'm' }, true, true],
    ['an image instead of a method', { url: 'a' }, { method: 'm' }, true, true],
    ['the same method and image', { method: 'm', url: 'a' }, { method: 'm', url: 'a' }, false, false],
    ['the same method without its image', { method: 'm' }, { method: 'm', url: 'a' }, false, true],
    ['the same method with another image', { method: 'm', url: 'b' }, { method: 'm', url: 'a' }, false, true],
    ['the same method with an image that was not recorded', { method: 'm', url: 'a' }, { method: 'm' }, true, false],
  ];
for (const [title, wanted, recorded, isWanted, isCancelled] of rows) {
  test(`deployment: ${title}`, () => {
    const found = of(wanted, recorded);
    assert.deepEqual([found.isWanted, found.isCancelled], [isWanted, isCancelled]);
  });
}
