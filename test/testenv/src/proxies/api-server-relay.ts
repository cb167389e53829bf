import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parse, stringify } from 'yaml';
import * as z from 'zod';

/** What is known of a request before it is forwarded. */
export interface RelayedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
}

interface Hold {
  readonly matches: (relayedRequest: RelayedRequest) => boolean;
  readonly release: PromiseWithResolvers<void>;
}

/**
 * A proxy between a client and the API server that holds matching requests, like an overloaded API
 * server. All other requests pass at once, watches too.
 *
 *   client ──HTTP, no credentials──► relay ──HTTPS, those of the kubeconfig──► API server
 */
export class ApiServerRelay implements AsyncDisposable {
  /** For the client: leads through the relay. */
  readonly kubeconfigPath: string;
  readonly #stack: AsyncDisposableStack;
  readonly #agent: Agent;
  readonly #server: string;
  readonly #held = new Set<IncomingMessage>();
  readonly #watchers = new Set<() => void>();
  #hold: Hold | undefined;

  private constructor({ kubeconfigPath, config, proxyServer, stack }: Parts) {
    this.kubeconfigPath = kubeconfigPath;
    this.#server = config.clusters[0].cluster.server;
    this.#agent = stack.adopt(agentOf(config), (agent) => agent.destroy());
    this.#stack = stack;
    proxyServer.on('request', (incoming, response) => void this.#forward(incoming, response));
  }

  /** A relay to the API server of a kubeconfig, with the credentials of its user. */
  static async to(path: string): Promise<ApiServerRelay> {
    await using stack = new AsyncDisposableStack();
    const config = kubeconfig.parse(parse(await readFile(path, 'utf8')));
    const removed = { recursive: true, force: true };
    const directory = stack.adopt(await mkdtemp(join(tmpdir(), 'metal-relay-')), (made) => rm(made, removed));
    const proxyServer = stack.adopt(createServer().listen(0, '127.0.0.1'), close);
    await once(proxyServer, 'listening');
    const { port } = proxyServer.address() as AddressInfo; // it listens on a port
    const kubeconfigPath = join(directory, 'kubeconfig');
    await writeFile(kubeconfigPath, kubeconfigTo(`http://127.0.0.1:${port}`, config));
    return new ApiServerRelay({ kubeconfigPath, config, proxyServer, stack: stack.move() });
  }

  /** Holds matching requests from now on; earlier ones are not affected. */
  hold(matches: (relayedRequest: RelayedRequest) => boolean): void {
    this.#hold = { matches, release: Promise.withResolvers() };
  }

  /** Forwards the held requests and holds no others. */
  release(): void {
    this.#hold?.release.resolve();
    this.#hold = undefined;
  }

  /** Number of requests that are held now. */
  get held(): number {
    return this.#held.size;
  }

  /** Called when a request is held or released. */
  onChange(watcher: () => void): Disposable {
    this.#watchers.add(watcher);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  async #forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#waitWhileHeld(incoming, response);
      const upstreamResponse = await this.#requestUpstream(incoming, response);
      response.writeHead(upstreamResponse.statusCode ?? 502, upstreamResponse.headers);
      // A watch sends its headers long before the first event.
      response.flushHeaders();
      await pipeline(upstreamResponse, response);
    } catch {
      // A connection that breaks on one side is closed on the other.
      response.destroy();
    }
  }

  async #waitWhileHeld(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = incoming;
    const hold = this.#hold;
    if (hold?.matches({ method, path: url }) !== true) return;
    const end = () => this.#held.delete(incoming) && this.#notify();
    response.once('close', end);
    this.#held.add(incoming);
    this.#notify();
    await hold.release.promise;
    end();
  }

  async #requestUpstream(incoming: IncomingMessage, response: ServerResponse): Promise<IncomingMessage> {
    const { method, url = '/' } = incoming;
    const { host: _ours, ...headers } = incoming.headers;
    const upstreamRequest = request(new URL(url, this.#server), { agent: this.#agent, method, headers });
    // When the client ends a watch, the request to the API server is aborted.
    response.once('close', () => upstreamRequest.destroy());
    const upstreamResponse = once(upstreamRequest, 'response');
    const [incomingMessage] = (await Promise.all([upstreamResponse, pipeline(incoming, upstreamRequest)]))[0];
    return incomingMessage as IncomingMessage; // what the event carries
  }

  #notify(): void {
    for (const watcher of this.#watchers) watcher();
  }
}

interface Parts {
  readonly kubeconfigPath: string;
  readonly config: Kubeconfig;
  readonly proxyServer: Server;
  readonly stack: AsyncDisposableStack;
}

/** As tools/controlplane writes it. */
const kubeconfig = z.looseObject({
  clusters: z.tuple([
    z.object({ name: z.string(), cluster: z.object({ server: z.url(), 'certificate-authority-data': z.base64() }) }),
  ]),
  users: z.tuple([
    z.object({
      name: z.string(),
      user: z.object({ 'client-certificate-data': z.base64(), 'client-key-data': z.base64() }),
    }),
  ]),
});
type Kubeconfig = z.output<typeof kubeconfig>;

function agentOf({ clusters: [{ cluster }], users: [{ user }] }: Kubeconfig): Agent {
  return new Agent({
    keepAlive: true,
    ca: Buffer.from(cluster['certificate-authority-data'], 'base64'),
    cert: Buffer.from(user['client-certificate-data'], 'base64'),
    key: Buffer.from(user['client-key-data'], 'base64'),
  });
}

/** The same names without credentials: the relay has them. */
function kubeconfigTo(server: string, config: Kubeconfig): string {
  const [{ name: cluster }] = config.clusters;
  const [{ name: user }] = config.users;
  return stringify({
    ...config,
    clusters: [{ name: cluster, cluster: { server } }],
    users: [{ name: user, user: {} }],
  });
}

async function close(proxyServer: Server): Promise<void> {
  const closed = new Promise((resolve) => proxyServer.close(resolve));
  proxyServer.closeAllConnections();
  await closed;
}
