import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { SingleFlight } from '@metal/kube/runtime/single-flight.ts';

export interface SecretsInUseOptions {
  readonly client: Pick<KubeClient, 'pages'>;
  readonly clock: Clock;
}

/** Each request lists the BMCs of the fleet. */
const rateLimit = { everyMs: 5_000, burst: 2 };

/** The BMCSecrets that BMC objects reference, read from the API server. */
export class SecretsInUse {
  readonly #client: Pick<KubeClient, 'pages'>;
  readonly #singleFlight: SingleFlight<ReadonlySet<string>>;

  constructor({ client, clock }: SecretsInUseOptions) {
    this.#client = client;
    this.#singleFlight = new SingleFlight({ clock, ...rateLimit });
  }

  /**
   * The names, never older than the call. Accounts created together are rotated together, so concurrent calls share one
   * list, of which at most one page is in memory. @throws KubeError
   */
  names(): Promise<ReadonlySet<string>> {
    return this.#singleFlight.run('', () => this.#read());
  }

  async #read(): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    for await (const { items } of this.#client.pages(BMC)) {
      for (const { spec } of items) names.add(spec.bmcSecretRef.name);
    }
    return names;
  }
}
