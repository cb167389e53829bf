import { BIOSSettingsSet } from '@metal/api/v1alpha1/bios-settings-set.ts';
import { BIOSVersionSet } from '@metal/api/v1alpha1/bios-version-set.ts';
import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { firmwareImage } from '@metal/simulator/firmware-image.ts';
import { pino } from 'pino';
import { isPowerAction } from '../fleet-process.ts';
import type { Stage } from '../stage.ts';
import { isAtRest, measureLoad, uuidOf } from './measure-load.ts';
import type { Scenario } from './scenario.ts';

const version = '9.0.0';
const maxUnavailable = '10%';

/** BIOS and BIOS settings of the whole fleet, a tenth of it at a time. */
export const rollout: Scenario = {
  name: 'rollout',
  summary: 'a BIOS version and BIOS settings of all servers, at most a tenth of them in maintenance at once',
  needs: [],
  startState: 'available',
  endState: 'available',
  ownStage: { vendors: 'generic', startState: 'available' },
  run: async (stage) => {
    await using stack = new AsyncDisposableStack();
    const uri = stage.images.serve('bios.bin', firmwareImage({ component: 'BIOS', version }));
    const updates = await watchUpdates(stage, stack);
    const away = new MostInMaintenance();
    stack.use(stage.onServer((server) => away.see(server.metadata.name, server.status?.state === 'Maintenance')));
    const outcome = await measureLoad(stage, {
      title: 'servers with the BIOS and its settings, off',
      expected: stage.nodes.map(({ systemUUID }) => systemUUID),
      follow: (arrive) => followDone(stage, updates, arrive),
      start: () => createSets(stage, uri),
    });
    const actions = [...outcome.redfishRequests].filter(([route]) => isPowerAction(route));
    const powerActions = actions.reduce((sum, [, count]) => sum + count, 0);
    return {
      ...outcome,
      figures: {
        ...outcome.figures,
        mostInMaintenance: away.most,
        powerActionsPerServer: powerActions / stage.nodes.length,
      },
    };
  },
};

interface Updates {
  readonly settings: Cache<BIOSSettings>;
  readonly versions: Cache<BIOSVersion>;
}

async function watchUpdates({ client }: Stage, stack: AsyncDisposableStack): Promise<Updates> {
  const set = new CacheSet({ client, clock: systemClock, log: pino({ level: 'silent' }) });
  const updates = { settings: set.watch(BIOSSettings), versions: set.watch(BIOSVersion) };
  stack.defer(() => set.stop());
  await set.start();
  return updates;
}

/** A server has arrived when both objects are done and it is back in the pool. */
function followDone(stage: Stage, { settings, versions }: Updates, arrive: (uuid: string) => void): Disposable {
  const done = { settings: new Set<string>(), versions: new Set<string>() };
  const check = (): void => {
    for (const server of stage.caches.servers.all()) {
      const { name } = server.metadata;
      if (done.settings.has(name) && done.versions.has(name) && isAtRest(server)) arrive(uuidOf(server));
    }
  };
  const stack = new DisposableStack();
  stack.use(
    settings.onChange(({ after }) => {
      if (after?.status?.state === 'Applied') done.settings.add(after.spec.serverRef?.name ?? '');
      check();
    }),
  );
  stack.use(
    versions.onChange(({ after }) => {
      if (after?.status?.state === 'Completed') done.versions.add(after.spec.serverRef?.name ?? '');
    }),
  );
  stack.use(stage.onServer(check));
  return stack;
}

async function createSets({ client }: Stage, uri: string): Promise<void> {
  const common = { serverSelector: {}, rollout: { maxUnavailable } };
  await client.create(BIOSVersionSet, {
    metadata: { name: 'bench-bios' },
    spec: { ...common, biosVersionTemplate: { version, image: { URI: uri } } },
  });
  const settingsFlow = [{ name: 'tuning', priority: 1, settings: { ProcHyperthreading: 'Disabled' } }];
  await client.create(BIOSSettingsSet, {
    metadata: { name: 'bench-settings' },
    spec: { ...common, biosSettingsTemplate: { version, settingsFlow } },
  });
}

class MostInMaintenance {
  readonly #now = new Set<string>();
  most = 0;

  see(name: string, isInMaintenance: boolean): void {
    if (isInMaintenance) this.#now.add(name);
    else this.#now.delete(name);
    this.most = Math.max(this.most, this.#now.size);
  }
}
