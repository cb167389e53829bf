import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomIntFrom } from '@metal/kube/test/seeded-random.ts';
import { keyOf, type KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Store } from '@metal/kube/cache/store.ts';
import { machineStores } from '../test/machine-stores.ts';
import { replyFor, macAddressesOf, type MachineCaches, onReplyChange } from './machines.ts';

const mac = (last: number): string => `02:00:00:00:00:0${last}`;

function fill<T extends KubeObject>(store: Store<T>, objects: readonly { name: string; [field: string]: unknown }[]) {
  for (const { name, ...fields } of objects) {
    const { namespace, ...rest } = fields;
    const metadata = { name, uid: `uid-${name}`, resourceVersion: '1', ...(namespace === 'default' && { namespace }) };
    // Only the fields that are read.
    store.upsertIfNewer({ apiVersion: 'v1', kind: 'Any', metadata, ...rest } as unknown as T);
  }
}

interface Fleet {
  servers?: {
    name: string;
    macs: string[];
    boot?: string | undefined;
    maintenanceBoot?: string | undefined;
    state?: string;
  }[];
  reports?: { name: string; macs: string[] }[];
  endpoints?: { name: string; mac: string }[];
  boots?: { name: string; server: string; state?: string; method?: string }[];
}

function cachesOf({ servers = [], reports = [], endpoints = [], boots = [] }: Fleet) {
  const ref = (name: string | undefined) => (name === undefined ? undefined : { name, namespace: 'default' });
  const caches = machineStores();
  fill(
    caches.servers,
    servers.map(({ name, macs, boot, maintenanceBoot, state }) => ({
      name,
      spec: { bootConfigurationRef: ref(boot), maintenanceBootConfigurationRef: ref(maintenanceBoot) },
      status: { state, networkInterfaces: macs.map((macAddress) => ({ macAddress })) },
    })),
  );
  fill(
    caches.inventories,
    reports.map(({ name, macs }) => ({
      name,
      spec: { report: { networkInterfaces: [], nics: macs.map((text) => ({ mac: text })) } },
    })),
  );
  fill(
    caches.endpoints,
    endpoints.map(({ name, mac: text }) => ({ name, spec: { macAddress: text } })),
  );
  fill(
    caches.bootConfigurations,
    boots.map(({ name, server, state = 'Ready', method = 'UefiHttp' }) => ({
      name,
      namespace: 'default',
      spec: { serverRef: { name: server } },
      status: { state, boot: { method } },
    })),
  );
  return caches;
}

/** The same objects in new caches. */
function copyOf(caches: ReturnType<typeof machineStores>): MachineCaches {
  const copy = machineStores();
  for (const kind of ['servers', 'inventories', 'endpoints', 'bootConfigurations'] as const)
    for (const object of caches[kind].all()) (copy[kind] as Store<KubeObject>).upsertIfNewer(object);
  return copy;
}

/** Each machine with the name of the boot it is led to. */
const seenIn = (caches: MachineCaches): Record<string, string | undefined> =>
  Object.fromEntries(
    [...macAddressesOf(caches)].flatMap((key) => {
      const reply = replyFor(key, caches);
      return reply === undefined ? [] : [[key, reply.boot?.metadata.name]];
    }),
  );
const seen = (fleet: Fleet): Record<string, string | undefined> => seenIn(cachesOf(fleet));

const prepared = { boots: [{ name: 'boot', server: 'one' }] };

for (const [what, fleet, expected] of [
  ['an empty cluster has no known machine', {}, {}],
  [
    'an Endpoint is known in any notation',
    { endpoints: [{ name: 'a', mac: '02-00-00-00-00-01' }] },
    { [mac(1)]: undefined },
  ],
  [
    'a server is known by each of its network cards',
    { servers: [{ name: 'one', macs: [mac(1), mac(2).toUpperCase()] }] },
    {
      [mac(1)]: undefined,
      [mac(2)]: undefined,
    },
  ],
  [
    'a network card that is only in the report is known',
    {
      servers: [{ name: 'one', macs: [] }],
      reports: [{ name: 'one', macs: [mac(3)] }],
    },
    { [mac(3)]: undefined },
  ],
  ['a report without its server is ignored', { reports: [{ name: 'gone', macs: [mac(3)] }] }, {}],
  [
    'text that is no Ethernet address is left out',
    {
      servers: [{ name: 'one', macs: ['', 'x', '02:00:00:00:00:01\nport=53', `${mac(1)},ignore`] }],
    },
    {},
  ],
  [
    'a server gets the boot that it refers to',
    { ...prepared, servers: [{ name: 'one', macs: [mac(1)], boot: 'boot' }] },
    {
      [mac(1)]: 'boot',
    },
  ],
  [
    'a boot without a UKI has no boot file',
    {
      servers: [{ name: 'one', macs: [mac(1)], boot: 'boot' }],
      boots: [{ name: 'boot', server: 'one', method: 'Ipxe' }],
    },
    { [mac(1)]: undefined },
  ],
  [
    'a boot that is not prepared has no boot file',
    {
      servers: [{ name: 'one', macs: [mac(1)], boot: 'boot' }],
      boots: [{ name: 'boot', server: 'one', state: 'Pending' }],
    },
    { [mac(1)]: undefined },
  ],
  [
    "another server's boot is ignored",
    {
      servers: [{ name: 'two', macs: [mac(1)], boot: 'boot' }],
      ...prepared,
    },
    { [mac(1)]: undefined },
  ],
  [
    'a server in Maintenance gets the boot of the maintenance',
    {
      servers: [{ name: 'one', macs: [mac(1)], boot: 'boot', maintenanceBoot: 'repair', state: 'Maintenance' }],
      boots: [...prepared.boots, { name: 'repair', server: 'one' }],
    },
    { [mac(1)]: 'repair' },
  ],
  [
    'two servers with one address get no boot file for it',
    {
      ...prepared,
      servers: [
        { name: 'one', macs: [mac(1), mac(2)], boot: 'boot' },
        { name: 'two', macs: [mac(1)] },
      ],
    },
    { [mac(1)]: undefined, [mac(2)]: 'boot' },
  ],
] as const satisfies readonly (readonly [string, Fleet, Record<string, string | undefined>])[]) {
  test(what, () => assert.deepEqual(seen(fleet), expected));
}

for (let seed = 1; seed <= 20; seed += 1) {
  test(`each change of a reply causes a call of the listener: seed ${seed}`, () => {
    const roll = randomIntFrom(seed);
    const pick = <T>(things: readonly [T, ...T[]]): T => things[roll(things.length)] ?? things[0];
    const caches = machineStores();
    const kept = new Map<string, string | undefined>();
    using _listening = onReplyChange(caches, (key) => {
      const reply = replyFor(key, caches);
      if (reply === undefined) kept.delete(key);
      else kept.set(key, reply.boot?.metadata.name);
    });
    const macs = () => Array.from({ length: roll(3) }, () => mac(roll(5)));
    const server = () => pick(['one', 'two', 'three']);
    for (let version = 1; version <= 300; version += 1) {
      const fleet = pick<Fleet>([
        {
          servers: [
            {
              name: server(),
              macs: macs(),
              boot: pick(['boot', 'other', undefined]),
              maintenanceBoot: pick(['other', undefined]),
              state: pick(['Available', 'Maintenance']),
            },
          ],
        },
        { reports: [{ name: server(), macs: macs() }] },
        { endpoints: [{ name: pick(['a', 'b']), mac: mac(roll(5)) }] },
        {
          boots: [
            {
              name: pick(['boot', 'other']),
              server: server(),
              state: pick(['Ready', 'Pending']),
              method: pick(['UefiHttp', 'UefiHttp', 'Ipxe']),
            },
          ],
        },
      ]);
      const changed = cachesOf(fleet);
      const isGone = roll(4) === 0;
      for (const kind of ['servers', 'inventories', 'endpoints', 'bootConfigurations'] as const)
        for (const object of changed[kind].all()) {
          const { uid = '', ...metadata } = object.metadata;
          const known = caches[kind].get(metadata);
          if (isGone) {
            if (known !== undefined) caches[kind].removeByUid(keyOf(metadata), known.metadata.uid);
            continue;
          }
          // A deleted object is recreated.
          const made = {
            ...metadata,
            uid: known?.metadata.uid ?? `${uid}-${version}`,
            resourceVersion: String(version),
          };
          (caches[kind] as Store<KubeObject>).upsertIfNewer({ ...object, metadata: made });
        }
      assert.deepEqual(Object.fromEntries(kept), seenIn(copyOf(caches)), `step ${version}`);
    }
  });
}
