import { createSecureContext, type SecureContext } from 'node:tls';

interface Kept {
  readonly context: SecureContext;
  users: number;
}

/** A context that somebody uses until it is disposed. */
export interface TakenContext extends Disposable {
  readonly context: SecureContext;
}

/**
 * TLS contexts of many BMCs, one for each bundle of certificate authorities while anybody uses it: to make one takes a
 * millisecond, and it occupies 30 kB and more. All it says is whose signature counts: names, pinned fingerprints and whether
 * anything is verified belong to the connections, none of which resumes the session of another.
 */
export class TlsContexts {
  readonly #kept = new Map<string, Kept>();

  /** How many are in use. */
  get size(): number {
    return this.#kept.size;
  }

  /** That of a bundle in PEM, or of Node's authorities for an empty one. @throws what Node says about a bundle it cannot read */
  take(caPem: string): TakenContext {
    const kept = this.#kept.get(caPem) ?? {
      context: createSecureContext(caPem === '' ? {} : { ca: caPem }),
      users: 0,
    };
    this.#kept.set(caPem, kept);
    kept.users += 1;
    const stack = new DisposableStack();
    stack.defer(() => {
      kept.users -= 1;
      if (kept.users === 0) this.#kept.delete(caPem);
    });
    return { context: kept.context, [Symbol.dispose]: () => stack.dispose() };
  }
}
