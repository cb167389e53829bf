import { BIOSSettingsSet } from '@metal/api/v1alpha1/bios-settings-set.ts';
import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BIOSVersionSet } from '@metal/api/v1alpha1/bios-version-set.ts';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { maintenanceApprovedLabel, maintenanceNeededLabel, operationAnnotation } from '@metal/api/wire/contract.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { firmwareImage } from '@metal/simulator/firmware-image.ts';
import { pino } from 'pino';
import { demoLabels } from './ownership.ts';
import { serveBytes } from './serve-bytes.ts';

/** What the tour of the rack gives to the tour of day 2. */
export interface DayTwoStage {
  readonly client: KubeClient;
  /** Of the claim. */
  readonly namespace: string;
  readonly servers: Cache<Server>;
  readonly claims: Cache<ServerClaim>;
  readonly step: <T>(title: string, work: () => Promise<T>) => Promise<T>;
  readonly until: (expectation: string, followed: readonly Followed[], holds: () => boolean) => Promise<void>;
  readonly log: (line: string) => void;
}
export type Followed = Pick<Cache<KubeObject>, 'onChange'>;

const version = '2026.11';
const setName = 'demo';
const tuned = 'demo.metal.ironcore.dev/tuned';

interface Updates {
  readonly versions: Cache<BIOSVersion>;
  readonly settings: Cache<BIOSSettings>;
}

/** A BIOS for the whole rack, a canary first; settings in the same maintenance; a claimed server after approval; a server leaves. */
export async function walkDayTwo(stage: DayTwoStage, claim: ServerClaim): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const updates = await watchUpdates(stage, stack);
  const uri = await serveBytes(firmwareImage({ component: 'BIOS', version }), stack);
  const count = stage.servers.size;
  await createSettings(stage, await labelTuned(stage));
  await stage.step(`install BIOS ${version} on a canary, then on two servers at a time`, async () => {
    await createVersions(stage, uri);
    const waiting = () => claimIn(stage)?.metadata.labels?.[maintenanceNeededLabel] === 'true';
    await stage.until('all servers without a claim have the BIOS', [updates.versions, stage.claims], () => {
      const done = [...updates.versions.all()].filter(({ status }) => status?.state === 'Completed').length;
      return done >= count - 1 && waiting();
    });
  });
  await stage.step('the owner approves the maintenance of the claimed server', async () => {
    const labels = { [maintenanceApprovedLabel]: 'true' };
    await stage.client.mergePatch(ServerClaim, claim.metadata, { metadata: { labels } });
    await stage.until('the claimed server has the BIOS and serves its claim', [updates.versions, stage.servers], () =>
      isServedWithBios(stage, updates),
    );
  });
  await stage.step('the settings of the standard machines are applied in the same maintenances', () =>
    stage.until('all settings are Applied', [updates.settings], () => {
      const all = [...updates.settings.all()];
      return all.length > 0 && all.every(({ status }) => status?.state === 'Applied');
    }),
  );
  report(stage, updates);
  await decommission(stage);
}

async function watchUpdates({ client }: DayTwoStage, stack: AsyncDisposableStack): Promise<Updates> {
  const set = new CacheSet({ client, clock: systemClock, log: pino({ level: 'silent' }) });
  const updates = { versions: set.watch(BIOSVersion), settings: set.watch(BIOSSettings) };
  stack.defer(() => set.stop());
  await set.start();
  return updates;
}

/** The settings are those of the simulator's standard machines. */
async function labelTuned({ client, servers }: DayTwoStage): Promise<number> {
  const standard = [...servers.all()].filter(({ status }) => status?.manufacturer === 'Contoso');
  for (const { metadata } of standard)
    await client.mergePatch(Server, { name: metadata.name }, { metadata: { labels: { [tuned]: 'true' } } });
  return standard.length;
}

async function createSettings({ client, log }: DayTwoStage, count: number): Promise<void> {
  const settingsFlow = [{ name: 'tuning', priority: 1, settings: { ProcHyperthreading: 'Disabled' } }];
  await client.create(BIOSSettingsSet, {
    metadata: { name: setName, labels: demoLabels },
    spec: {
      serverSelector: { matchLabels: { [tuned]: 'true' } },
      biosSettingsTemplate: { version, settingsFlow, serverMaintenancePolicy: 'OwnerApproval' },
    },
  });
  log(`             BIOSSettingsSet ${setName}: ${count} servers wait for BIOS ${version}`);
}

async function createVersions({ client }: DayTwoStage, uri: string): Promise<void> {
  await client.create(BIOSVersionSet, {
    metadata: { name: setName, labels: demoLabels },
    spec: {
      serverSelector: {},
      biosVersionTemplate: { version, image: { URI: uri }, serverMaintenancePolicy: 'OwnerApproval' },
      rollout: { canary: 1, maxUnavailable: '25%' },
    },
  });
}

const claimIn = ({ claims, namespace }: DayTwoStage): ServerClaim | undefined => claims.get(`${namespace}/demo`);

function isServedWithBios(stage: DayTwoStage, { versions }: Updates): boolean {
  const server = stage.servers.get(claimIn(stage)?.spec.serverRef?.name ?? '');
  const reason = server?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
  const isDone = [...versions.all()].every(({ status }) => status?.state === 'Completed');
  return isDone && reason === 'ClaimServed';
}

function report({ log, servers }: DayTwoStage, { versions }: Updates): void {
  for (const { spec, status } of versions.all()) {
    const name = spec.serverRef?.name ?? '';
    const manufacturer = servers.get(name)?.status?.manufacturer ?? '';
    log(`             ${name.padEnd(26)} ${manufacturer.padEnd(12)} BIOS ${status?.installedVersion ?? '?'}`);
  }
}

async function decommission({ client, servers, step, until }: DayTwoStage): Promise<void> {
  const free = [...servers.all()].findLast(({ status }) => status?.state === 'Available');
  if (free === undefined) return;
  const { name } = free.metadata;
  await step(`decommission ${name}: no more claims, a last cleanup, off for good`, async () => {
    const annotations = { [operationAnnotation]: 'decommission' };
    await client.mergePatch(Server, { name }, { metadata: { annotations } });
    await until('the server is Decommissioned', [servers], () => servers.get(name)?.status?.state === 'Decommissioned');
  });
}
