import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Change } from '@metal/kube/cache/store.ts';
import type { Testenv } from '../testenv.ts';

interface Tenancy {
  readonly claimUid: string;
  readonly bootsBefore: number;
}

/**
 * Watches every Server and ServerClaim, and records violations of the guarantees of a claim: one server for one claim,
 * the machine off between two tenants, and a start of the machine for each served tenant.
 */
export class TenancyWatch implements Disposable {
  /** As messages, in order; empty without a violation. */
  readonly breaches: string[] = [];
  /** UIDs of all claims that ever held a server. */
  readonly served = new Set<string>();
  readonly #testenv: Testenv;
  readonly #nodes: ReadonlyMap<string, Node>;
  readonly #tenancies = new Map<string, Tenancy>();
  readonly #subscriptions: Disposable[];

  constructor(testenv: Testenv, nodes: readonly Node[]) {
    this.#testenv = testenv;
    this.#nodes = new Map(nodes.map((node) => [node.uuid.toLowerCase(), node]));
    this.#subscriptions = [
      testenv.servers.onChange((change) => this.#serverChanged(change)),
      testenv.claims.onChange((change) => this.#claimChanged(change)),
    ];
  }

  /** Servers with a claim now. */
  get held(): number {
    return this.#tenancies.size;
  }

  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }

  #serverChanged({ key, after }: Change<Server>): void {
    const before = this.#tenancies.get(key);
    const claimUid = after?.spec.serverClaimRef?.uid;
    const node = this.#nodes.get(after?.spec.systemUUID.toLowerCase() ?? '');
    if (before !== undefined && before.claimUid !== claimUid) this.#endTenancy(key, before, claimUid, node);
    if (claimUid !== undefined && before?.claimUid !== claimUid) this.#startTenancy(key, claimUid, node);
    if (claimUid !== undefined && isServed(after)) this.#checkServed(key, node);
  }

  #startTenancy(server: string, claimUid: string, node: Node | undefined): void {
    for (const [other, tenancy] of this.#tenancies)
      if (tenancy.claimUid === claimUid) this.#breach(`claim ${claimUid} holds ${other} and ${server}`);
    if (this.served.has(claimUid)) this.#breach(`claim ${claimUid} was bound a second time, to ${server}`);
    this.served.add(claimUid);
    this.#tenancies.set(server, { claimUid, bootsBefore: node?.boots.length ?? 0 });
  }

  #endTenancy(server: string, { claimUid }: Tenancy, next: string | undefined, node: Node | undefined): void {
    this.#tenancies.delete(server);
    if (next !== undefined) this.#breach(`${server} went from claim ${claimUid} to ${next} without being free`);
    if (node !== undefined && node.powerLog.at(-1) !== 'Off')
      this.#breach(`${server} was taken from claim ${claimUid} while its machine was ${node.power}`);
  }

  #checkServed(server: string, node: Node | undefined): void {
    const tenancy = this.#tenancies.get(server);
    if (tenancy === undefined || node === undefined || node.boots.length > tenancy.bootsBefore) return;
    this.#breach(`${server} is served to claim ${tenancy.claimUid} on a machine that was not started for it`);
  }

  /** A claim in deletion keeps its reference while the next one may already be served. */
  #claimChanged({ after }: Change<ServerClaim>): void {
    const name = after?.spec.serverRef?.name;
    if (after === undefined || name === undefined || after.metadata.deletionTimestamp !== undefined) return;
    for (const other of this.#testenv.claims.all())
      if (
        other.metadata.uid !== after.metadata.uid &&
        other.metadata.deletionTimestamp === undefined &&
        other.spec.serverRef?.name === name
      )
        this.#breach(`claims ${other.metadata.name} and ${after.metadata.name} both refer to ${name}`);
  }

  #breach(message: string): void {
    this.breaches.push(message);
    this.#testenv.timeline.note(`BREACH ${message}`);
  }
}

const isServed = (server: Server | undefined): boolean =>
  server?.status?.conditions?.some(({ reason }) => reason === 'ClaimServed') ?? false;
