import { createSecureContext, type SecureContext } from 'node:tls';

interface SharedContext {
  readonly context: SecureContext;
  users: number;
}

/** A reference to a shared context, released when disposed. */
export interface AcquiredContext extends Disposable {
  readonly context: SecureContext;
}

/**
 * TLS contexts of many BMCs, one for each bundle of certificate authorities, by reference count: creating one takes a
 * millisecond and 30 kB or more. A context holds nothing but the authorities: host names, pinned fingerprints and disabled
 * verification belong to the connections, and no connection resumes the session of another.
 */
export class TlsContexts {
  readonly #contexts = new Map<string, SharedContext>();

  /** Contexts in use. */
  get size(): number {
    return this.#contexts.size;
  }

  /** The context of a bundle in PEM, or of Node's authorities for an empty one. @throws Node's error for an unreadable bundle */
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
