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

/** Kinds of the objects of one server, owners before their dependents. */
const kindsOfServer: readonly Kind[] = [
  Endpoint,
  BMCSecret,
  BMC,
  ServerClaim,
  Server,
  ServerInventory,
  ServerBootConfiguration,
];

/** All objects of one server, after a real bring-up. */
export interface Specimen {
  readonly objects: readonly { readonly kind: Kind; readonly text: string }[];
}

/** Brings up an available and a claimed server as templates of fleets. */
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

/** The API server sets these fields; `uid` stays, to be found in references. */
function withoutServerFields(object: KubeObject): KubeObject {
  const { name, namespace, uid, labels, annotations, finalizers, ownerReferences } = object.metadata;
  return { ...object, metadata: { name, namespace, uid, labels, annotations, finalizers, ownerReferences } };
}

const uuids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const macs = /(?:[0-9a-f]{2}:){5}[0-9a-f]{2}/gi;
const names = /(?:dell-\d+|claim-\d+)/g;

/**
 * Writes copies of the templates through the API, alternately, each with its own names, UUIDs and MAC addresses. Nothing acts on
 * them, because there is no BMC. Owner references have the UIDs of the copies.
 */
export class FleetOfObjects {
  readonly #client: KubeClient;
  readonly #specimens: readonly Specimen[];
  /** Bytes of all objects in JSON from the API server. */
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
      const original = JSON.parse(text) as KubeObject; // the text was made from an object
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
  return JSON.parse(copied) as KubeObject; // only names within strings were replaced
}

/** Different for each server; the addresses of one server keep their differences. */
function macOf(mac: string, index: number): string {
  const number = index.toString(16).padStart(6, '0');
  return `${mac.slice(0, 5)}:${number.slice(0, 2)}:${number.slice(2, 4)}:${number.slice(4)}:${mac.slice(-2)}`;
}
