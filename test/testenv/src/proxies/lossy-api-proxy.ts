import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { KubeConfig } from '@kubernetes/client-node';

/** A proxy to the real API server that loses some responses and watch events. */
export class LossyApiProxy implements AsyncDisposable {
  readonly kubeconfigPath: string;
  readonly #proxyServer: Server;
  readonly #apiServer: RequestOptions;
  readonly #origin: string;
  readonly #watches = new Set<IncomingMessage>();
  #isPaused = false;
  #dropsResponse: ((method: string, body: string) => boolean) | undefined;

  private constructor(parts: {
    kubeconfigPath: string;
    proxyServer: Server;
    apiServer: RequestOptions;
    origin: string;
  }) {
    this.kubeconfigPath = parts.kubeconfigPath;
    this.#proxyServer = parts.proxyServer;
    this.#apiServer = parts.apiServer;
    this.#origin = parts.origin;
    this.#proxyServer.on('request', (incoming, outgoing) => void this.#forward(incoming, outgoing));
  }

  /** A kubeconfig for the proxy with the user of the given one; the proxy's own has no user. */
  static async open(kubeconfigPath: string): Promise<LossyApiProxy> {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfigPath);
    const apiServer: RequestOptions = {};
    // The library fills in certificate and key; its type wants the whole of the options.
    await config.applyToHTTPSOptions(apiServer as Parameters<KubeConfig['applyToHTTPSOptions']>[0]);
    const proxyServer = createServer();
    await new Promise<void>((resolve) => proxyServer.listen(0, '127.0.0.1', resolve));
    const { port } = proxyServer.address() as AddressInfo; // it listens on a port
    const path = join(await mkdtemp(join(tmpdir(), 'metal-lossy-')), 'kubeconfig.json');
    const server = `http://127.0.0.1:${port}`;
    // Plain HTTP is only used where nothing is to be verified.
    const cluster = { name: 'proxy', cluster: { server, 'insecure-skip-tls-verify': true } };
    const context = { name: 'proxy', context: { cluster: 'proxy', user: 'proxy' } };
    const users = [{ name: 'proxy', user: {} }];
    const kubeconfig = { clusters: [cluster], contexts: [context], users, 'current-context': 'proxy' };
    await writeFile(path, JSON.stringify(kubeconfig));
    return new LossyApiProxy({
      kubeconfigPath: path,
      proxyServer,
      apiServer,
      origin: config.getCurrentCluster()?.server ?? '',
    });
  }

  /** The next matching request is executed, and its response is lost. */
  dropNextResponse(dropsResponse: (method: string, body: string) => boolean): void {
    this.#dropsResponse = dropsResponse;
  }

  /** Until disposed, watches of Servers deliver nothing. */
  pauseServerWatches(): Disposable {
    this.#isPaused = true;
    for (const watch of this.#watches) watch.pause();
    return {
      [Symbol.dispose]: () => {
        this.#isPaused = false;
        for (const watch of this.#watches) watch.resume();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#proxyServer.closeAllConnections();
    await new Promise((resolve) => this.#proxyServer.close(resolve));
    await rm(join(this.kubeconfigPath, '..'), { recursive: true, force: true });
  }

  async #forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = incoming;
    const { host: _, connection: __, 'transfer-encoding': ___, ...headers } = incoming.headers;
    const body = await text(incoming);
    const isLost = this.#dropsResponse?.(method, body) === true;
    if (isLost) this.#dropsResponse = undefined;
    const upstreamRequest = request(`${this.#origin}${url}`, { ...this.#apiServer, method, headers }, (response) => {
      if (isLost) return void response.resume().on('end', () => outgoing.destroy());
      outgoing.writeHead(response.statusCode ?? 502, response.headers).flushHeaders();
      if (/\/servers\?.*watch=true/.test(url)) this.#follow(response);
      response.on('data', (chunk) => outgoing.write(chunk));
      response.on('end', () => outgoing.end());
      response.on('error', () => outgoing.destroy());
    });
    upstreamRequest.on('error', () => outgoing.destroy());
    outgoing.on('close', () => upstreamRequest.destroy());
    upstreamRequest.end(body);
  }

  #follow(watch: IncomingMessage): void {
    this.#watches.add(watch);
    watch.on('close', () => this.#watches.delete(watch));
    if (this.#isPaused) watch.pause();
  }
}
