import type { KubeClient } from '@metal/kube/client/client.ts';
import type { BackEnd } from '@metal/metal3/provisioner/back-end.ts';
import type { Provisioner } from '@metal/metal3/provisioner/provisioner.ts';

const writes = new Set<string | symbol>(['create', 'mergePatch', 'jsonPatch', 'apply', 'delete']);
/** Calls of a provisioner that change the machine or what the back end knows of it. */
const operations = new Set<string | symbol>([
  'register',
  'inspect',
  'prepare',
  'provision',
  'adopt',
  'deprovision',
  'powerOn',
  'powerOff',
  'delete',
  'detach',
]);

/**
 * The clients of a process that ends at one of its calls: the write of an object, or an operation of the back end. Whether that call
 * takes effect is given; no later one does. The test then starts another process.
 */
export class EndingProcess {
  #callsLeft: number;
  readonly #lastTakesEffect: boolean;
  readonly #ended = Promise.withResolvers<string>();
  #hasEnded = false;

  constructor(calls: number, lastTakesEffect: boolean) {
    this.#callsLeft = calls;
    this.#lastTakesEffect = lastTakesEffect;
  }

  /** Resolves with the call at which the process has ended. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  readonly clientOf = (client: KubeClient): KubeClient =>
    new Proxy(client, {
      get: (target, name) => {
        const own: unknown = Reflect.get(target, name);
        if (typeof own !== 'function') return own;
        // The client's state is in private fields, which only its own methods can read.
        const call = (...given: unknown[]): unknown => own.apply(target, given);
        if (name === 'withFieldManager' || name === 'withPool')
          return (given: string) => this.clientOf(asClient(call(given)));
        return writes.has(name) ? (...given: unknown[]) => this.#run(String(name), () => call(...given)) : call;
      },
    });

  readonly backEndOf = (backEnd: BackEnd): BackEnd => ({
    name: backEnd.name,
    provisionerOf: async (access) => this.#provisionerOf(await backEnd.provisionerOf(access)),
    servicesOf: (host) => backEnd.servicesOf(host),
  });

  #provisionerOf(provisioner: Provisioner): Provisioner {
    return new Proxy(provisioner, {
      get: (target, name) => {
        const own: unknown = Reflect.get(target, name);
        if (typeof own !== 'function') return own;
        const call = (...given: unknown[]): unknown => own.apply(target, given);
        return operations.has(name) ? (...given: unknown[]) => this.#run(String(name), () => call(...given)) : call;
      },
    });
  }

  async #run(name: string, call: () => unknown): Promise<unknown> {
    if (this.#hasEnded) throw new Error('the process has ended');
    this.#callsLeft -= 1;
    if (this.#callsLeft > 0) return call();
    this.#hasEnded = true;
    try {
      if (this.#lastTakesEffect) await call();
    } finally {
      this.#ended.resolve(name);
    }
    throw new Error('the process has ended');
  }
}

/** What a method of a client returns that makes another one. */
const asClient = (value: unknown): KubeClient => value as KubeClient;
