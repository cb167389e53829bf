import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { randomFrom } from '@metal/kube/test/seeded-random.ts';
import { EndingProcess } from '@metal/testenv/metal3/ending-process.ts';
import { type HostTestenv, startHostTestenv, withoutAdmission } from '@metal/testenv/metal3/host-testenv.ts';
import { racksOfSeeds } from '@metal/testenv/operator/seeds.ts';

const image = { url: 'http://images.test/os.raw', checksum: 'abc', format: 'raw' } as const;
/** Calls of a process until it ends: a life of a host has about fifty. */
const mostCalls = 9;

suite('A process that ends at any call', () => {
  let testenv: HostTestenv;
  before(async () => {
    testenv = await startHostTestenv({ open: withoutAdmission });
  });
  after(async () => testenv[Symbol.asyncDispose]());

  for (const { seeds, text } of racksOfSeeds(1))
    test(`of ${text} is continued by the next one, which repeats nothing`, async () => {
      const [seed = 0] = seeds;
      const name = `host-${seed}`;
      const stop = new AbortController();
      const processes = runProcesses(randomFrom(seed), stop.signal);
      try {
        await live(name);
      } finally {
        stop.abort();
        const ends = await processes;
        assert.ok(ends.length > 0);
      }
      const { started, nodeId } = testenv.backEnd.machine(name);
      // When the host is powered depends on when a process ends.
      assert.deepEqual(
        started.filter((operation) => !operation.startsWith('power')),
        ['register', 'inspect', 'provision', 'deprovision', 'delete'],
      );
      assert.equal(nodeId, undefined);
    });

  /** One process after the other, each until it ends at a call. Returns these calls. */
  async function runProcesses(random: () => number, signal: AbortSignal): Promise<string[]> {
    const ends: string[] = [];
    const stopped = new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined)));
    while (!signal.aborted) {
      const ending = new EndingProcess(1 + Math.floor(random() * mostCalls), random() < 0.5);
      const { clientOf, backEndOf } = ending;
      await testenv.start({}, { clientOf, backEnd: backEndOf(testenv.backEnd) });
      const end = await Promise.race([ending.ended, stopped]);
      if (end !== undefined) ends.push(end);
      await testenv.stop();
    }
    return ends;
  }

  /** From the first registration to the deletion. */
  async function live(name: string): Promise<void> {
    const { client, hosts, backEnd } = testenv;
    await testenv.host(name);
    const host = hosts.named(name);
    await host.reaches('available');
    await hosts.patch(name, { spec: { image } });
    const provisioned = await host.reaches('provisioned');
    assert.equal(provisioned.status?.provisioning.image?.url, image.url);
    assert.equal(backEnd.machine(name).image, image.url);
    assert.ok(!backEnd.machine(name).started.includes('deprovision'));
    await hosts.patch(name, { spec: { image: null } });
    const free = await host.reaches('available');
    assert.equal(free.status?.errorMessage, '');
    await client.delete(BareMetalHost, { namespace: 'default', name });
    await host.isGone();
  }
});
