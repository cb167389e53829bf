import { createSecureContext, type SecureContext } from 'node:tls';

interface SharedContext {
  readonly context: SecureContext;
  users: number;
}

/** A context that somebody uses until it is disposed. */
export interface AcquiredContext extends Disposable {
  readonly context: SecureContext;
}

/**
 * TLS contexts of many BMCs, one for each bundle of certificate authorities while anybody uses it: to make one takes a
 * millisecond, and it occupies 30 kB and more. All it says is whose signature counts: names, pinned fingerprints and whether
 * anything is verified belong to the connections, none of which resumes the session of another.
 */
export class TlsContexts {
  readonly #contexts = new Map<string, SharedContext>();

  /** How many are in use. */
  get size(): number {
    return this.#contexts.size;
  }

  /** That of a bundle in PEM, or of Node's authorities for an empty one. @throws what Node says about a bundle it cannot read */
  acquire(caPem: string): AcquiredContext {
    const shared = this.#contexts.get(caPem) ?? {
      context: createSecureContext(caPem === '' ? {} : { ca: caPem }),
      users: 0,
    };
    this.#contexts.set(caPem, shared);
    shared.users += 1;
    const stack = new DisposableStack();
    stack.defer(() => {
      shared.users -= 1;
      if (shared.users === 0) this.#contexts.delete(caPem);
    });
    return { context: shared.context, [Symbol.dispose]: () => stack.dispose() };
  }
}
