import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Peer } from '@metal/simulator/traffic.ts';
import type { Lab } from './lab.ts';

/** Requests of one process to one BMC, one after the other without anybody between them. */
export interface Reign {
  readonly pid: number;
  readonly since: number;
  until: number;
}

/**
 * Notes which process talks to each BMC, by looking at whose connection a request comes over; and whatever breaks the
 * promise that it is one at a time: a request that arrives while another process waits for an answer.
 */
export class BmcOwners implements Disposable {
  /** In words, in order. */
  readonly breaches: string[] = [];
  readonly #lab: Lab;
  readonly #pids: () => Iterable<number>;
  readonly #reigns = new Map<string, Reign[]>();
  readonly #inFlight = new Map<string, Map<number, number>>();
  readonly #pidOf = new WeakMap<Peer, number>();
  readonly #listeners = new Set<() => void>();
  readonly #subscriptions: Disposable[];

  constructor(lab: Lab, nodes: readonly Node[], pids: () => Iterable<number>) {
    this.#lab = lab;
    this.#pids = pids;
    this.#subscriptions = nodes.map((node) =>
      node.bmc.traffic.onRequest((moment, peer) => this.#heard(node, moment, peer)),
    );
  }

  /** In the order in which they talked to the BMC. */
  reignsAt({ name }: Node): readonly Reign[] {
    return this.#reigns.get(name) ?? [];
  }

  /** Who talked to the BMC last. */
  ownerOf(node: Node): number | undefined {
    return this.reignsAt(node).at(-1)?.pid;
  }

  /** Called after each request. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }

  #heard(node: Node, moment: 'arrived' | 'answered', peer: Peer | undefined): void {
    const pid = peer && this.#pidBehind(peer, node.bmc.port);
    if (pid === undefined) return;
    const waiting = this.#inFlight.get(node.name) ?? new Map<number, number>();
    this.#inFlight.set(node.name, waiting);
    waiting.set(pid, Math.max(0, (waiting.get(pid) ?? 0) + (moment === 'arrived' ? 1 : -1)));
    if (moment === 'arrived') this.#arrived(node, pid, waiting);
    for (const listener of this.#listeners) listener();
  }

  #arrived({ name }: Node, pid: number, waiting: ReadonlyMap<number, number>): void {
    const now = this.#lab.clock.now();
    const reigns = this.#reigns.get(name) ?? [];
    this.#reigns.set(name, reigns);
    const last = reigns.at(-1);
    if (last?.pid === pid) last.until = now;
    else reigns.push({ pid, since: now, until: now });
    const alive = new Set(this.#pids());
    for (const [other, count] of waiting)
      if (other !== pid && count > 0 && alive.has(other)) this.#breach(`${name}: ${pid} asks while ${other} does`);
  }

  #breach(words: string): void {
    this.breaches.push(words);
    this.#lab.timeline.note(`BREACH ${words}`);
  }

  /** Looked up at the first request: whoever sent it waits for the answer, so the connection is there. */
  #pidBehind(peer: Peer, bmcPort: number): number | undefined {
    const known = this.#pidOf.get(peer);
    if (known !== undefined) return known;
    const sockets = socketsBetween(peer.port, bmcPort);
    const pid = [...this.#pids()].find((one) => hasOneOf(one, sockets));
    if (pid !== undefined) this.#pidOf.set(peer, pid);
    return pid;
  }
}

/**
 * The sockets of this host from the one port to the other: connections to different BMCs may have one port of their own
 * in common, and belong to different processes.
 */
function socketsBetween(from: number, to: number): ReadonlySet<string> {
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  const fields = lines.map((line) => line.trim().split(/\s+/));
  return new Set(
    fields
      .filter(([, local = '', remote = '']) => local.endsWith(hexadecimal(from)) && remote.endsWith(hexadecimal(to)))
      .map((words) => `socket:[${words[9] ?? ''}]`),
  );
}

const hexadecimal = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, '0')}`;

function hasOneOf(pid: number, sockets: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((descriptor) => sockets.has(linkOf(`/proc/${pid}/fd/${descriptor}`)));
  } catch {
    // The process has ended.
    return false;
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
