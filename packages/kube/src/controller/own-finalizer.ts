import type { KubeClient } from '../client/client.ts';
import { type Kind, keyOf, type KubeObject } from '../kinds/kind.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from './finalizers.ts';

interface QuietWriter {
  writeQuietly(key: string, write: () => Promise<unknown>): Promise<unknown>;
}

/** The finalizer that a controller has on its objects, if it has one. */
export class OwnFinalizer<T extends KubeObject> {
  readonly #of: { readonly kind: Kind<T>; readonly finalizer?: string };
  readonly #client: KubeClient;
  readonly #writer: QuietWriter;

  constructor(
    definition: { readonly kind: Kind<T>; readonly finalizer?: string },
    { client, writer }: { readonly client: KubeClient; readonly writer: QuietWriter },
  ) {
    this.#of = definition;
    this.#client = client;
    this.#writer = writer;
  }

  async addTo(object: T): Promise<void> {
    const { finalizer, kind } = this.#of;
    if (finalizer === undefined || hasFinalizer(object, finalizer)) return;
    await this.#writer.writeQuietly(keyOf(object), () => addFinalizer(this.#client, kind, object, finalizer));
  }

  async removeFrom(object: T): Promise<undefined> {
    const { finalizer, kind } = this.#of;
    if (finalizer !== undefined && hasFinalizer(object, finalizer))
      await removeFinalizer(this.#client, kind, object, finalizer);
  }
}
