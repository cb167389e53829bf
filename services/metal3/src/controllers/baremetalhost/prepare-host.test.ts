import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { movedHostAnnotation, statusAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { hostIn } from '../../../test/baremetalhost/example-host.ts';
import { prepareHost } from './prepare-host.ts';

type Start = Parameters<typeof prepareHost>[0];

/** An API server with one host, whose client is gone after some writes. */
class ApiServer {
  host: BareMetalHost;
  writesLeft = Infinity;

  constructor(host: BareMetalHost) {
    this.host = host;
  }

  async mergePatch(
    _kind: unknown,
    _ref: unknown,
    { metadata }: { metadata: Pick<BareMetalHost['metadata'], 'annotations'> },
  ) {
    const merged = Object.entries({ ...this.host.metadata.annotations, ...metadata.annotations });
    const annotations = Object.fromEntries(merged.filter(([, value]) => value !== null));
    return this.#write({ ...this.host, metadata: { ...this.host.metadata, annotations } });
  }

  async apply(_kind: unknown, { status }: Pick<BareMetalHost, 'status'>) {
    return this.#write({ ...this.host, status });
  }

  #write(host: BareMetalHost): BareMetalHost {
    this.writesLeft -= 1;
    if (this.writesLeft < 0) throw new Error('the process is gone');
    this.host = host;
    return host;
  }
}

const { status, metadata, ...rest } = hostIn('provisioned');
const moved: BareMetalHost = {
  ...rest,
  metadata: { ...metadata, annotations: { [statusAnnotation]: JSON.stringify(status) } },
};

/** The members of a start that the preparation uses. */
const startOn = (client: ApiServer): Start =>
  ({
    object: client.host,
    now: 0,
    recordEvent: () => {},
    context: { client, caches: { hardwareData: new Store() } },
  }) as unknown as Start;

for (const writes of [0, 1, 2])
  test(`a host whose status came from another cluster is known as moved after an end of the process after ${writes} writes`, async () => {
    const api = new ApiServer(moved);
    api.writesLeft = writes;
    await assert.rejects(prepareHost(startOn(api)), /the process is gone/);
    api.writesLeft = Infinity;
    await prepareHost(startOn(api));
    assert.deepEqual(api.host.metadata.annotations, { [movedHostAnnotation]: 'true' });
    assert.equal(api.host.status?.provisioning.state, 'provisioned');
  });
