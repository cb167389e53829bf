import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Cache } from '@metal/kube/cache.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import type { Clock } from '@metal/kube/clock.ts';
import type { LazyBootTokens } from '@metal/api/wire/boot-tokens.ts';
import { currentBootRef, type Expectation, expectationOf, obstacleTo } from './expectation.ts';
import { Refusal } from './refusal.ts';

export interface MachinesOptions {
  client: KubeClient;
  servers: Cache<Server>;
  bootConfigurations: Cache<ServerBootConfiguration>;
  tokens: LazyBootTokens;
  clock: Clock;
}

/** Somebody who asks for the same machine again and again does not make us ask the API server each time. */
const confirmedForMs = 1_000;

/** Tells which machine is asking, and what it is to boot. */
export class Machines {
  readonly #options: MachinesOptions;
  readonly #confirmedAt = new Map<string, number>();

  constructor(options: MachinesOptions) {
    this.#options = options;
  }

  /** @throws Refusal 404 unless exactly one Server has the UUID. */
  byUuid(uuid: string): Server {
    const found = this.#options.servers.by('uuid', uuid.toLowerCase());
    const [server] = found;
    if (server !== undefined && found.length === 1) return server;
    throw new Refusal(
      404,
      `${found.length === 0 ? 'no Server has' : `${found.length} Servers have`} the system UUID ${uuid.toLowerCase().slice(0, 64)}; expected one`,
    );
  }

  /** "Boot nothing" is only said after asking the API server itself: a watch may lag behind the power button. */
  async expectationOf(server: Server): Promise<Expectation> {
    const { bootConfigurations, clock } = this.#options;
    const ref = currentBootRef(server);
    const cached = expectationOf(server, ref && bootConfigurations.get(ref), clock.now());
    const { name } = server.metadata;
    if (cached.boot !== undefined || clock.now() - (this.#confirmedAt.get(name) ?? 0) < confirmedForMs) return cached;
    this.#confirmedAt.set(name, clock.now());
    return this.#confirmed(name);
  }

  /**
   * The prepared boot that the token admits to. Another replica may have sent the machine here before our watch told
   * us of it, so the API server itself is asked before a machine is refused. @throws Refusal 403
   */
  async byToken(token: string): Promise<ServerBootConfiguration> {
    const { client, tokens, servers, clock } = this.#options;
    const known = await tokens.find(token);
    if (known === undefined)
      throw new Refusal(403, 'the token belongs to no boot configuration, or to one that is gone');
    const { name } = known.spec.serverRef;
    if (obstacleTo(known, servers.get(name), clock.now()) === undefined) return known;
    const boot = await client.find(ServerBootConfiguration, known.metadata);
    const obstacle =
      boot === undefined || boot.metadata.uid !== known.metadata.uid
        ? 'its boot configuration is gone'
        : obstacleTo(boot, await client.find(Server, { name }), clock.now());
    if (boot === undefined || obstacle !== undefined) throw new Refusal(403, `the token is not valid now: ${obstacle}`);
    return boot;
  }

  async #confirmed(name: string): Promise<Expectation> {
    const { client, clock } = this.#options;
    const server = await client.find(Server, { name });
    if (server === undefined) return { reason: 'its Server is gone' };
    const ref = currentBootRef(server);
    const boot = ref === undefined ? undefined : await client.find(ServerBootConfiguration, ref);
    return expectationOf(server, boot, clock.now());
  }
}
