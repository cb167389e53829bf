import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { suite, test } from 'node:test';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { Bmc, Password } from '@metal/redfish/http/bmc.ts';
import { readFirmwareInventory } from '@metal/redfish/resources/firmware-inventory.ts';
import { readManagers, resetManager } from '@metal/redfish/resources/managers.ts';
import { resetSystem } from '@metal/redfish/resources/power.ts';
import { readSystem } from '@metal/redfish/resources/systems.ts';
import {
  readUpdateService,
  startUpdate,
  type UpdateRequest,
  updateWasRefused,
} from '@metal/redfish/resources/update-service.ts';
import { readRunningUpdates, readUpdateTask, type UpdateProgress } from '@metal/redfish/resources/update-tasks.ts';
import { firmwareImage } from '@metal/simulator/firmware-image.ts';
import { startFleet } from '@metal/simulator/fleet.ts';
import { profiles, type Vendor, vendors } from '@metal/simulator/profiles.ts';
import { startImageServer } from '@metal/testenv/network/image-server.ts';

const password = new Password('image-password');
const credentials = { username: 'reader', password: password.reveal() };
const updating = vendors.filter((vendor) => profiles[vendor].firmware !== undefined);

/** One machine of the vendor, the connection to its BMC, and a server of images with credentials. */
async function openFixture(vendor: Vendor) {
  const stack = new AsyncDisposableStack();
  const times = { powerOnMs: 5, powerOffMs: 5, bootMs: 5, bmcRestartMs: 20, flashMs: 20 };
  const fleet = stack.use(await startFleet(times));
  const node = await fleet.add({ vendor });
  const { username, password: text, address: host, port } = node.bmc;
  const endpoint = { scheme: 'http', host, port } as const;
  const bmc = stack.use(
    new Bmc({ endpoint, credentials: { username, password: new Password(text) }, clock: systemClock }),
  );
  const images = stack.use(await startImageServer(credentials));
  const uri = `/redfish/v1/Systems/${node.machine.systemId}`;
  return { node, bmc, images, uri, vendor, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
type Fixture = Awaited<ReturnType<typeof openFixture>>;

const until = async <T>(read: () => Promise<T>, isReached: (value: T) => boolean): Promise<T> => {
  for (;;) {
    const value = await read();
    if (isReached(value)) return value;
    await systemClock.sleep(5);
  }
};

const imageOf = (component: string, version: string, vendor: Vendor): Uint8Array => {
  const { manufacturer, model } = profiles[vendor];
  return firmwareImage({ component, version, manufacturer, models: [model] });
};

function pullOf({ images, vendor }: Fixture, component: string, version: string): UpdateRequest {
  const imageUri = images.serve(`${component}.img`, imageOf(component, version, vendor));
  return { imageUri, transferProtocol: 'HTTP', username: credentials.username, password };
}

/** The end of an update: of its task, or of the version when the BMC restarts. */
const endOf = ({ bmc }: Fixture, task: string | undefined): Promise<UpdateProgress> => {
  assert.ok(task !== undefined);
  return until(
    () => readUpdateTask(bmc, task),
    ({ kind, awaitsReset }) => kind !== 'Running' || awaitsReset,
  );
};

async function restartHost({ node, bmc, uri }: Fixture): Promise<void> {
  const { length } = node.boots;
  await resetSystem(bmc, uri, node.power === 'Off' ? 'On' : 'ForceRestart');
  await node.until(({ boots }) => boots[length]?.outcome !== undefined, AbortSignal.timeout(10_000));
}

for (const vendor of updating) {
  suite(vendor, { concurrency: true }, () => {
    test('BIOS and BMC are found in the inventory, with the versions that system and manager have', async () => {
      await using fixture = await openFixture(vendor);
      const inventory = await readFirmwareInventory(fixture.bmc);
      const versionOf = (kind: string) => inventory.filter((component) => component.kind === kind);
      assert.deepEqual(
        versionOf('BIOS').map(({ version }) => version),
        [profiles[vendor].biosVersion],
      );
      assert.deepEqual(
        versionOf('BMC').map(({ version }) => version),
        [profiles[vendor].firmwareVersion],
      );
      assert.ok(inventory.every(({ isStaged }) => !isStaged));
    });

    test('the BMC fetches a BIOS with credentials; it is active after a start of the machine', async () => {
      await using fixture = await openFixture(vendor);
      const { bmc, uri, node } = fixture;
      const { task } = await startUpdate(bmc, pullOf(fixture, 'BIOS', 'NEW.2'));
      const end = await endOf(fixture, task);
      assert.ok(end.kind === 'Completed' || end.awaitsReset, JSON.stringify(end));
      assert.equal((await readSystem(bmc, uri)).biosVersion, profiles[vendor].biosVersion);
      assert.deepEqual(
        (await readFirmwareInventory(bmc))
          .filter(({ isStaged }) => isStaged)
          .map(({ kind, version }) => [kind, version]),
        [['BIOS', 'NEW.2']],
      );
      await restartHost(fixture);
      assert.equal((await readSystem(bmc, uri)).biosVersion, 'NEW.2');
      assert.equal((await endOf(fixture, task)).kind, 'Completed');
      assert.deepEqual(
        node.bmc.flashes.map(({ version }) => version),
        ['NEW.2'],
      );
    });

    test('a firmware of the BMC is active after its restart', async () => {
      await using fixture = await openFixture(vendor);
      const { bmc } = fixture;
      const { task } = await startUpdate(bmc, pullOf(fixture, 'BMC', '9.9'));
      const end = await until(
        () => readUpdateTask(bmc, task ?? '').catch(() => undefined),
        (progress) => progress?.kind === 'Completed' || progress?.kind === 'Gone',
      );
      if (profiles[vendor].firmware?.bmc === 'waits') {
        assert.equal(end?.kind, 'Completed');
        const [manager] = await readManagers(bmc);
        await resetManager(bmc, manager?.uri ?? '', 'GracefulRestart');
      }
      await until(
        () => readManagers(bmc).catch(() => []),
        ([manager]) => manager?.firmwareVersion === '9.9',
      );
    });

    test('an image that is pushed is installed, or the BMC says that it takes none', async () => {
      await using fixture = await openFixture(vendor);
      const { bmc, node } = fixture;
      const image = imageOf('BIOS', 'PUSHED.1', vendor);
      const open = async () => ({ size: image.length, stream: Readable.from([image]), fileName: 'bios.img' });
      const request: UpdateRequest = { delivery: 'Push', component: 'BIOS', open };
      const service = await readUpdateService(bmc);
      if (service?.canPush !== true) return assert.rejects(startUpdate(bmc, request), { code: 'NotSupported' });
      const { task } = await startUpdate(bmc, request);
      const end = await endOf(fixture, task);
      assert.ok(end.kind === 'Completed' || end.awaitsReset, JSON.stringify(end));
      assert.deepEqual(
        node.bmc.flashes.map(({ version }) => version),
        ['PUSHED.1'],
      );
    });

    test('an image for another model ends in a failed task that says so', async () => {
      await using fixture = await openFixture(vendor);
      const image = firmwareImage({ component: 'BIOS', version: '2', manufacturer: 'Other', models: ['X'] });
      const imageUri = fixture.images.serve('other.img', image);
      const { task } = await startUpdate(fixture.bmc, { ...pullOf(fixture, 'BIOS', '2'), imageUri });
      const end = await endOf(fixture, task);
      assert.equal(end.kind, 'Failed');
      assert.match(end.messages.join(' '), /for Other X/);
      assert.deepEqual(fixture.node.bmc.flashes, []);
    });

    test('an accepted update whose response is lost may have started, and is found among the tasks', async () => {
      await using fixture = await openFixture(vendor);
      const { node, bmc } = fixture;
      node.bmc.set({ updateStuck: true });
      node.bmc.failWriteResponses(0, { path: 'SimpleUpdate' });
      const error = await startUpdate(bmc, pullOf(fixture, 'BIOS', 'NEW.4')).catch((reason: unknown) => reason);
      assert.ok(!updateWasRefused(error));
      assert.equal(node.bmc.requests.filter(({ path }) => path.endsWith('SimpleUpdate')).length, 1);
      const running = await until(
        () => readRunningUpdates(bmc),
        ([each]) => (each?.percent ?? 0) > 0,
      );
      assert.equal(running.length, 1);
      assert.equal(node.bmc.flashes.length, 1);
    });

    test('an update that runs is found among the tasks', async () => {
      await using fixture = await openFixture(vendor);
      fixture.node.bmc.set({ updateStuck: true });
      const { task } = await startUpdate(fixture.bmc, pullOf(fixture, 'BIOS', 'NEW.3'));
      const running = await until(
        () => readUpdateTask(fixture.bmc, task ?? ''),
        ({ percent = 0 }) => percent > 0,
      );
      assert.equal(running.kind, 'Running');
      assert.deepEqual(
        (await readRunningUpdates(fixture.bmc)).map((each) => each.task),
        [running.task],
      );
    });
  });
}

for (const vendor of ['supermicro-x10', 'sparse'] as const) {
  test(`a BMC of the profile ${vendor} updates no firmware`, async () => {
    await using fixture = await openFixture(vendor);
    assert.equal(await readUpdateService(fixture.bmc), undefined);
    assert.deepEqual(await readFirmwareInventory(fixture.bmc), []);
    await assert.rejects(startUpdate(fixture.bmc, { imageUri: 'http://x/' }), { code: 'NotSupported' });
  });
}

test('an inventory is 2 requests with $expand; an update is 2, and a look at its task 1', async () => {
  await using fixture = await openFixture('dell');
  const { bmc, node, uri } = fixture;
  await readSystem(bmc, uri);
  const count = async (work: () => Promise<unknown>): Promise<number> => {
    const before = node.bmc.traffic.total;
    await work();
    return node.bmc.traffic.total - before;
  };
  const request = pullOf(fixture, 'BIOS', 'NEW.5');
  let task: string | undefined;
  assert.equal(await count(() => readFirmwareInventory(bmc)), 2);
  assert.equal(await count(async () => ({ task } = await startUpdate(bmc, request))), 2);
  assert.equal(await count(() => readUpdateTask(bmc, task ?? '')), 1);
});
