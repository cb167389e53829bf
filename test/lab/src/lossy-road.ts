import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { KubeConfig } from '@kubernetes/client-node';

/** An operator that goes this way reaches the real API server, but not everything comes back. */
export class LossyRoad implements AsyncDisposable {
  readonly kubeconfigPath: string;
  readonly #entrance: Server;
  readonly #apiServer: RequestOptions;
  readonly #origin: string;
  readonly #watches = new Set<IncomingMessage>();
  #isHeld = false;
  #loses: ((method: string, body: string) => boolean) | undefined;

  private constructor(parts: {
    kubeconfigPath: string;
    entrance: Server;
    apiServer: RequestOptions;
    origin: string;
  }) {
    this.kubeconfigPath = parts.kubeconfigPath;
    this.#entrance = parts.entrance;
    this.#apiServer = parts.apiServer;
    this.#origin = parts.origin;
    this.#entrance.on('request', (incoming, answer) => void this.#carry(incoming, answer));
  }

  /** A road for whom the kubeconfig is; the one of the road names nobody. */
  static async open(kubeconfigPath: string): Promise<LossyRoad> {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfigPath);
    const apiServer: RequestOptions = {};
    // The library fills in certificate and key; its type wants the whole of the options.
    await config.applyToHTTPSOptions(apiServer as Parameters<KubeConfig['applyToHTTPSOptions']>[0]);
    const entrance = createServer();
    await new Promise<void>((resolve) => entrance.listen(0, '127.0.0.1', resolve));
    const { port } = entrance.address() as AddressInfo; // it listens on a port
    const own = join(await mkdtemp(join(tmpdir(), 'metal-road-')), 'kubeconfig.json');
    const server = `http://127.0.0.1:${port}`;
    // Without TLS it is only used where nothing is to be verified.
    const cluster = { name: 'road', cluster: { server, 'insecure-skip-tls-verify': true } };
    const context = { name: 'road', context: { cluster: 'road', user: 'road' } };
    const users = [{ name: 'road', user: {} }];
    const road = { clusters: [cluster], contexts: [context], users, 'current-context': 'road' };
    await writeFile(own, JSON.stringify(road));
    return new LossyRoad({
      kubeconfigPath: own,
      entrance,
      apiServer,
      origin: config.getCurrentCluster()?.server ?? '',
    });
  }

  /** The next request like that is carried out, and its answer is lost. */
  loseAnswer(loses: (method: string, body: string) => boolean): void {
    this.#loses = loses;
  }

  /** Watches of Servers tell nothing until disposed. */
  holdServers(): Disposable {
    this.#isHeld = true;
    for (const watch of this.#watches) watch.pause();
    return {
      [Symbol.dispose]: () => {
        this.#isHeld = false;
        for (const watch of this.#watches) watch.resume();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#entrance.closeAllConnections();
    await new Promise((resolve) => this.#entrance.close(resolve));
    await rm(join(this.kubeconfigPath, '..'), { recursive: true, force: true });
  }

  async #carry(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = incoming;
    const { host: _, connection: __, 'transfer-encoding': ___, ...headers } = incoming.headers;
    const body = await text(incoming);
    const isLost = this.#loses?.(method, body) === true;
    if (isLost) this.#loses = undefined;
    const onward = request(`${this.#origin}${url}`, { ...this.#apiServer, method, headers }, (response) => {
      if (isLost) return void response.resume().on('end', () => answer.destroy());
      answer.writeHead(response.statusCode ?? 502, response.headers).flushHeaders();
      if (/\/servers\?.*watch=true/.test(url)) this.#follow(response);
      response.on('data', (chunk) => answer.write(chunk));
      response.on('end', () => answer.end());
      response.on('error', () => answer.destroy());
    });
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    onward.end(body);
  }

  #follow(watch: IncomingMessage): void {
    this.#watches.add(watch);
    watch.on('close', () => this.#watches.delete(watch));
    if (this.#isHeld) watch.pause();
  }
}
