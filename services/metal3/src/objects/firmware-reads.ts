import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { BoundedMap } from '@metal/kube/runtime/bounded-map.ts';

/** When the firmware of hosts was changed by this process: older values of HostFirmwareSettings are not compared with. */
export class FirmwareReads {
  readonly #appliedAt = new BoundedMap<string, number>(10_000);

  applied({ metadata }: BareMetalHost, at: number): void {
    this.#appliedAt.set(metadata.uid ?? '', at);
  }

  /** Milliseconds of the clock; undefined if it was not. */
  appliedAt({ metadata }: BareMetalHost): number | undefined {
    return this.#appliedAt.get(metadata.uid ?? '');
  }
}
