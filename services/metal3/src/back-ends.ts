import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { provisionerAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { type BackEndName, backEndNames } from './options.ts';
import { type BackEnd, BackEndNotReady } from './provisioner/back-end.ts';

/** The back ends of this process, and which host has which. */
export class BackEnds {
  readonly #byName: Readonly<Partial<Record<BackEndName, BackEnd>>>;
  readonly #default: BackEndName;

  constructor(byName: Readonly<Partial<Record<BackEndName, BackEnd>>>, fallback: BackEndName) {
    this.#byName = byName;
    this.#default = fallback;
  }

  /** News of all back ends about their hosts. */
  onChange(enqueue: (hostKey: string) => void): Disposable {
    const stack = new DisposableStack();
    for (const backEnd of Object.values(this.#byName)) {
      const following = backEnd.onChange?.(enqueue);
      if (following !== undefined) stack.use(following);
    }
    return stack;
  }

  /** @throws BackEndNotReady for one that this process does not have: another may be meant, and none is better than a wrong one */
  of({ metadata }: BareMetalHost): BackEnd {
    const found = metadata.annotations?.[provisionerAnnotation] ?? this.#default;
    const name = backEndNames.find((known) => known === found);
    if (name === undefined)
      throw new BackEndNotReady(
        `annotation ${provisionerAnnotation}: "${found}" is none of ${backEndNames.join(', ')}: correct or remove it`,
      );
    const backEnd = this.#byName[name];
    if (backEnd === undefined)
      throw new BackEndNotReady(
        `this operator has no back end ${name}: see --metal3-provisioner and --ironic-endpoint`,
      );
    return backEnd;
  }
}
