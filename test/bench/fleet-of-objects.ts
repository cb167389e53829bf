import { randomUUID } from 'node:crypto';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Kind, KubeObject } from '@metal/kube/kinds/kind.ts';
import { pathOf } from '@metal/kube/client/paths.ts';
import { startTestenv } from '@metal/testenv/testenv.ts';

/** What there is of one server; owners come before what they own. */
const kindsOfServer: readonly Kind[] = [
  Endpoint,
  BMCSecret,
  BMC,
  ServerClaim,
  Server,
  ServerInventory,
  ServerBootConfiguration,
];

/** Every object of one server, as a real bring-up left it. */
export interface Specimen {
  readonly objects: readonly { readonly kind: Kind; readonly text: string }[];
}

/** Brings up one server that is free and one that is claimed: specimens to make fleets of. */
export async function bringUpSpecimens(): Promise<Specimen[]> {
  await using testenv = await startTestenv();
  const [free, claimed] = await testenv.addNodes({ dell: 2 });
  if (free === undefined || claimed === undefined) throw new TypeError('the rack has two machines');
  await testenv.plugIn(free);
  await testenv.server(free).hasReason('Available');
  const specimens = [await everythingIn(testenv.client)];
  await testenv.client.delete(Endpoint, { name: free.name });
  await testenv.plugIn(claimed);
  await testenv.server(claimed).hasReason('Available');
  await testenv.claim({ image: 'registry.test/os:1', on: claimed });
  await testenv.server(claimed).hasReason('ClaimServed');
  return [...specimens, objectsNamed(claimed.name, await everythingIn(testenv.client))];
}

async function everythingIn(client: KubeClient): Promise<Specimen> {
  const lists = await Promise.all(
    kindsOfServer.map(async (kind) => {
      const { items } = await client.list(kind);
      return items.map((object) => ({ kind, text: JSON.stringify(withoutServerFields(object)) }));
    }),
  );
  return { objects: lists.flat() };
}

const objectsNamed = (name: string, { objects }: Specimen): Specimen => ({
  objects: objects.filter(({ text }) => text.includes(`"${name}`)),
});

/** The API server fills these in anew; `uid` stays to be recognised in those who refer to it. */
function withoutServerFields(object: KubeObject): KubeObject {
  const { name, namespace, uid, labels, annotations, finalizers, ownerReferences } = object.metadata;
  return { ...object, metadata: { name, namespace, uid, labels, annotations, finalizers, ownerReferences } };
}

const uuids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const macs = /(?:[0-9a-f]{2}:){5}[0-9a-f]{2}/gi;
const names = /(?:dell-\d+|claim-\d+)/g;

/**
 * Writes copies of the specimens, in turn, through the API: each with names, UUIDs and MACs of its own. Nothing acts on
 * them: there is no BMC behind. What they own refers to the copies' own UIDs.
 */
export class FleetOfObjects {
  readonly #client: KubeClient;
  readonly #specimens: readonly Specimen[];
  /** Bytes of all objects as the API server tells them. */
  bytes = 0;
  objects = 0;

  constructor(client: KubeClient, specimens: readonly Specimen[]) {
    this.#client = client;
    this.#specimens = specimens;
  }

  async write(
    { from = 0, to }: { from?: number; to: number },
    onProgress: (written: number) => void = () => undefined,
  ): Promise<void> {
    let next = from;
    const writer = async () => {
      for (let index = next++; index < to; index = next++) {
        await this.#copy(index);
        onProgress(index + 1);
      }
    };
    await Promise.all(Array.from({ length: copiersAtOnce }, writer));
  }

  async #copy(index: number): Promise<void> {
    const specimen = this.#specimens[index % this.#specimens.length];
    const other = new Map<string, string>();
    for (const { kind, text } of specimen?.objects ?? []) {
      const original = JSON.parse(text) as KubeObject; // it was an object when it was made text
      const written = await this.#write(kind, renamed(text, index, other));
      other.set(original.metadata.uid ?? '', written.metadata.uid ?? '');
      this.bytes += JSON.stringify(written).length;
      this.objects += 1;
    }
  }

  async #write(kind: Kind, object: KubeObject): Promise<KubeObject> {
    const { uid: _, ...metadata } = object.metadata;
    const created = await this.#client.create<KubeObject>(kind, { ...object, metadata });
    if (!('status' in object)) return created;
    return this.#client.raw<KubeObject>({
      method: 'PUT',
      path: pathOf(kind, metadata, 'status'),
      body: { ...object, metadata: { ...metadata, resourceVersion: created.metadata.resourceVersion } },
    });
  }
}

const copiersAtOnce = 16;

function renamed(text: string, index: number, other: Map<string, string>): KubeObject {
  const copied = text
    .replaceAll(names, (name) => `${name.split('-')[0]}-${index}`)
    .replaceAll(macs, (mac) => macOf(mac, index))
    .replaceAll(uuids, (uuid) => {
      const known = other.get(uuid) ?? randomUUID();
      other.set(uuid, known);
      return known;
    });
  return JSON.parse(copied) as KubeObject; // what was replaced are names within strings
}

/** Differs from server to server; those of one server differ as before. */
function macOf(mac: string, index: number): string {
  const number = index.toString(16).padStart(6, '0');
  return `${mac.slice(0, 5)}:${number.slice(0, 2)}:${number.slice(2, 4)}:${number.slice(4)}:${mac.slice(-2)}`;
}
