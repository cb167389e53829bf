import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import type { CacheSet } from '@metal/kube/cache/cache.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { Event, Lease } from '@metal/kube/kinds/builtin.ts';
import type { Kind, KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { BmcSecrets } from './bmc-secrets.ts';
import { MessageLengths } from '../assertions/message-lengths.ts';
import { ObjectsOfKind } from './objects-of-kind.ts';
import { Servers, watchServers } from './servers.ts';
import { Timeline } from './timeline.ts';
import { type UpdateObjects, watchUpdates } from './update-objects.ts';
import type { WatchedObject } from './watched-object.ts';

export interface ClusterObjectsOptions {
  readonly client: KubeClient;
  /** Not started yet. */
  readonly caches: CacheSet;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** The objects of the cluster by kind, and those of one machine. */
export class ClusterObjects {
  readonly client: KubeClient;
  /** A write through `client` is in these caches when it returns. */
  readonly caches: CacheSet;
  readonly timeline: Timeline;
  readonly messageLengths = new MessageLengths();
  readonly servers: Servers;
  readonly claims: ObjectsOfKind<ServerClaim>;
  readonly bmcs: ObjectsOfKind<BMC>;
  readonly endpoints: ObjectsOfKind<Endpoint>;
  readonly boots: ObjectsOfKind<ServerBootConfiguration>;
  readonly inventories: ObjectsOfKind<ServerInventory>;
  readonly rules: ObjectsOfKind<ServerReadinessRule>;
  readonly maintenances: ObjectsOfKind<ServerMaintenance>;
  readonly users: ObjectsOfKind<BMCUser>;
  readonly secrets: BmcSecrets;
  readonly updates: UpdateObjects;
  readonly erasures: Cache<ErasureReport>;
  readonly leases: Cache<Lease>;
  readonly events: ObjectsOfKind<Event>;

  constructor({ client, caches, clock, timeoutMs }: ClusterObjectsOptions) {
    this.client = client;
    this.caches = caches;
    const servers = watchServers(caches);
    const claims = caches.watch(ServerClaim);
    const bmcs = caches.watch(BMC);
    const endpoints = caches.watch(Endpoint);
    const boots = caches.watch(ServerBootConfiguration);
    const users = caches.watch(BMCUser);
    const maintenances = caches.watch(ServerMaintenance);
    const events = caches.watch(Event, {
      indexes: { about: ({ regarding, reason }) => [`${regarding.name}/${reason}`] },
    });
    const timeline = new Timeline({ servers, claims, bmcs, endpoints, boots, users }, timeoutMs);
    const common = { client, timeline };
    this.timeline = timeline;
    this.servers = new Servers({ ...common, cache: servers }, clock);
    this.claims = new ObjectsOfKind({
      ...common,
      kind: ServerClaim,
      cache: claims,
      phase: (claim) => claim.status?.phase,
    });
    this.bmcs = new ObjectsOfKind({ ...common, kind: BMC, cache: bmcs, phase: stateOf });
    this.endpoints = new ObjectsOfKind({ ...common, kind: Endpoint, cache: endpoints });
    this.boots = new ObjectsOfKind({ ...common, kind: ServerBootConfiguration, cache: boots, phase: stateOf });
    this.inventories = new ObjectsOfKind({ ...common, kind: ServerInventory, cache: caches.watch(ServerInventory) });
    this.rules = new ObjectsOfKind({ ...common, kind: ServerReadinessRule, cache: caches.watch(ServerReadinessRule) });
    this.maintenances = new ObjectsOfKind({
      ...common,
      kind: ServerMaintenance,
      cache: maintenances,
      phase: stateOf,
    });
    this.users = new ObjectsOfKind({ ...common, kind: BMCUser, cache: users, phase: stateOf });
    this.secrets = new BmcSecrets({ ...common, kind: BMCSecret, cache: caches.watch(BMCSecret) });
    this.erasures = caches.watch(ErasureReport);
    this.leases = caches.watch(Lease, { namespace: 'default' });
    this.events = new ObjectsOfKind({ ...common, kind: Event, cache: events });
    this.updates = watchUpdates(caches, common, (cache) => this.messageLengths.watch(cache));
    for (const cache of [servers, claims, bmcs, endpoints, boots, users, maintenances, this.rules, this.erasures])
      this.messageLengths.watch(cache);
  }

  server(node: Node): WatchedObject<Server> {
    return this.servers.withUuid(node.uuid);
  }

  bmc(node: Node): WatchedObject<BMC> {
    return this.bmcs.named(node.name);
  }

  endpoint(node: Node): WatchedObject<Endpoint> {
    return this.endpoints.named(node.name);
  }

  inventoryOf(node: Node): WatchedObject<ServerInventory> {
    const find = () => [...this.inventories.all()].find(({ spec }) => spec.systemUUID === node.uuid.toLowerCase());
    return this.inventories.found(`inventory of ${node.name}`, find);
  }

  /** The boot configuration of the machine's discovery. */
  bootOf(node: Node): WatchedObject<ServerBootConfiguration> {
    const isOfNode = ({ spec }: ServerBootConfiguration) =>
      spec.serverRef.name === this.server(node).now?.metadata.name;
    return this.boots.found(`boot of ${node.name}`, () => [...this.boots.all()].find(isOfNode));
  }

  /** An object of any watched kind; in namespace `default`, if the kind has namespaces. */
  object(kind: Kind, name: string): WatchedObject<KubeObject> {
    const { client, timeline } = this;
    return new ObjectsOfKind({ kind, cache: this.caches.of(kind), client, timeline }).named(name);
  }

  /** The first event with this reason, and this text in its note, about the object or the one of that name. */
  hasEvent(about: KubeObject | string, reason: string, text = ''): Promise<Event> {
    const { name, uid } = typeof about === 'string' ? { name: about, uid: undefined } : about.metadata;
    const matches = ({ note, regarding }: Event) =>
      note.includes(text) && (regarding.uid ?? uid) === (uid ?? regarding.uid);
    return this.events
      .found(`events of ${name}`, () => this.events.by('about', `${name}/${reason}`).find(matches))
      .until(`has event ${reason} ${text}`.trimEnd(), () => true);
  }

  /** Calls after every change of a watched object. */
  onChange(listener: () => void): Disposable {
    const stack = new DisposableStack();
    const { servers, claims, bmcs, endpoints, boots, inventories } = this;
    for (const cache of [servers, claims, bmcs, endpoints, boots, inventories]) stack.use(cache.onChange(listener));
    return stack;
  }
}

const stateOf = ({ status }: { status?: { state?: string | undefined } | undefined }): string | undefined =>
  status?.state;
