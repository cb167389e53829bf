import { createHash } from 'node:crypto';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Change } from '@metal/kube/cache/store.ts';
import type { Testenv } from '../testenv.ts';

/** Kinds of fault points: writes to the API, changes of state, requests to the BMC before and after the response. */
export const faultPointKinds = ['write', 'phase', 'arrived', 'answered'] as const;
export type FaultPointKind = (typeof faultPointKinds)[number];

/** The n-th of its kind in the life of one machine. */
export interface FaultPoint {
  readonly kind: FaultPointKind;
  readonly number: number;
}

export type FaultPointCounts = Readonly<Record<FaultPointKind, number>>;

const goldenRatio = 0.618_033_988_749_895;

/** A point of the run, in [0, 1). The golden ratio spreads consecutive seeds evenly, for any number of seeds. */
const fractionOf = (seed: number): number => (seed * goldenRatio) % 1;

/** The same seed gives the same fault point, for a run with these numbers of each kind. */
export function faultPointOf(seed: number, counts: FaultPointCounts): FaultPoint {
  const kind =
    faultPointKinds[createHash('sha256').update(`kind ${seed}`).digest().readUInt8() % faultPointKinds.length];
  if (kind === undefined) throw new RangeError(`no kind of fault point for seed ${seed}`);
  return { kind, number: 1 + Math.floor(fractionOf(seed) * counts[kind]) };
}

/** Counts the events of one machine, and calls the listener at the requested fault point. */
export class FaultPointWatch implements Disposable {
  readonly counts: Record<FaultPointKind, number> = { write: 0, phase: 0, arrived: 0, answered: 0 };
  readonly #node: Node;
  readonly #subscriptions = new DisposableStack();
  #pending: { readonly isReached: () => boolean; readonly call: () => void } | undefined;

  constructor(testenv: Testenv, node: Node) {
    this.#node = node;
    const { endpoints, bmcs, servers, claims, boots, inventories, maintenances, users, updates } = testenv;
    const caches = [endpoints, bmcs, servers, claims, boots, inventories, maintenances, users];
    for (const cache of [...caches, ...Object.values(updates)]) this.follow(cache);
    const check = () => this.#check();
    this.#subscriptions.use(node.bmc.traffic.onRequest((event) => this.#count(event)));
    this.#subscriptions.use(node.bmc.access.onChange(check));
    this.#subscriptions.use(node.machine.onChange(check));
  }

  /** Counts the changes of further objects. */
  follow(cache: { onChange(listener: (change: Change<KubeObject>) => void): Disposable }): void {
    this.#subscriptions.use(cache.onChange((change) => this.#changed(change)));
  }

  /** Calls once, synchronously, at the fault point, or at the first event after which the predicate holds. */
  at(faultPoint: FaultPoint | (() => boolean), call: () => void): void {
    const isReached =
      typeof faultPoint === 'function' ? faultPoint : () => this.counts[faultPoint.kind] >= faultPoint.number;
    this.#pending = { isReached, call };
    this.#check();
  }

  get isPending(): boolean {
    return this.#pending !== undefined;
  }

  /** Calls now if the run did not reach the fault point. */
  fireIfPending(): void {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.call();
  }

  [Symbol.dispose](): void {
    this.#subscriptions.dispose();
  }

  #changed({ before, after }: Change<KubeObject>): void {
    const object = after ?? before;
    if (object === undefined || !isAbout(object, this.#node)) return;
    if (before?.metadata.resourceVersion !== after?.metadata.resourceVersion) this.#count('write');
    if (stateOf(before) !== stateOf(after)) this.#count('phase');
    this.#check();
  }

  #count(kind: FaultPointKind): void {
    this.counts[kind] += 1;
    this.#check();
  }

  #check(): void {
    if (this.#pending?.isReached() === true) this.fireIfPending();
  }
}

/** Every object of a machine carries its name, or refers to its server. */
export function isAbout(object: KubeObject, { name }: Node): boolean {
  // The members read here are optional on every kind.
  const { spec } = object as KubeObject & { spec?: { serverRef?: { name?: string } } };
  const names = [object.metadata.name, spec?.serverRef?.name ?? ''];
  return names.some((candidate) => candidate === name || candidate.startsWith(`${name}-`));
}

function stateOf(object: KubeObject | undefined): string | undefined {
  // The members read here are optional on every kind.
  const { status } = (object ?? {}) as {
    status?: { state?: string; phase?: string; provisioning?: { state?: string } };
  };
  return object === undefined ? undefined : (status?.state ?? status?.phase ?? status?.provisioning?.state ?? 'new');
}
