import { request } from 'node:http';
import { join } from 'node:path';
import { ControlPlaneError } from './errors.ts';
import { etcdAddress } from './etcd.ts';

/** All keys of the API server are below it: /registry/<resource or group/resource>/[<namespace>/]<name>. */
const prefix = '/registry/';
const deadlineMs = 30_000;

/**
 * The names of all objects of a control plane at one moment. Objects that were created later are deleted together, whatever kind, finalizer
 * or admission policy they have; clients see a deletion on their watches. Objects that changed or were deleted stay so.
 */
export class EtcdSnapshot {
  readonly #directory: string;
  readonly #keys: ReadonlySet<string>;

  private constructor(directory: string, keys: ReadonlySet<string>) {
    this.#directory = directory;
    this.#keys = keys;
  }

  /** Of the control plane with this data directory. @throws ControlPlaneError EtcdRefused */
  static async take(directory: string): Promise<EtcdSnapshot> {
    return new EtcdSnapshot(directory, new Set(await keysIn(directory)));
  }

  /** A snapshot that another process has taken, as the text of `toString`. */
  static parse(directory: string, text: string): EtcdSnapshot {
    return new EtcdSnapshot(directory, new Set(text.split('\n')));
  }

  toString(): string {
    return [...this.#keys].join('\n');
  }

  /** Deletes the objects that were created since. */
  async deleteLaterObjects(): Promise<void> {
    const later = (await keysIn(this.#directory)).filter((key) => !this.#keys.has(key) && !isOwnObject(key));
    // etcd accepts up to 128 operations in a transaction.
    for (let start = 0; start < later.length; start += 100) {
      const success = later.slice(start, start + 100).map((key) => ({ requestDeleteRange: { key: base64(key) } }));
      await call(this.#directory, '/v3/kv/txn', { success });
    }
  }
}

/** Resources of objects that the API server itself creates at any time, and maintains. */
const ownResources = [
  'apiregistration.k8s.io',
  'flowschemas',
  'ipaddresses',
  'leases/kube-system',
  'masterleases',
  'configmaps/kube-system',
  'namespaces/kube-',
  'priorityclasses',
  'prioritylevelconfigurations',
  'ranges',
  'servicecidrs',
  'services',
];

const isOwnObject = (key: string): boolean => ownResources.some((resource) => key.startsWith(`${prefix}${resource}`));

const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function keysIn(directory: string): Promise<string[]> {
  // The end of a range is the prefix with its last character increased.
  const range = { key: base64(prefix), range_end: base64('/registry0'), keys_only: true };
  const { kvs = [] } = (await call(directory, '/v3/kv/range', range)) as { kvs?: { key: string }[] };
  return kvs.map(({ key }) => Buffer.from(key, 'base64').toString());
}

/** The JSON gateway of etcd (https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/). */
function call(directory: string, path: string, body: object): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const socketPath = join(directory, etcdAddress);
  const clientRequest = request({ socketPath, path, method: 'POST', timeout: deadlineMs, agent: false }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.once('error', reject);
    response.once('end', () => {
      const text = Buffer.concat(chunks).toString();
      if (response.statusCode === 200) resolve(JSON.parse(text));
      else reject(refused(path, `${response.statusCode} ${text.slice(0, 200)}`));
    });
  });
  clientRequest.once('error', reject);
  clientRequest.once('timeout', () => clientRequest.destroy(refused(path, `no response within ${deadlineMs} ms`)));
  clientRequest.end(JSON.stringify(body));
  return promise;
}

const refused = (path: string, found: string): ControlPlaneError =>
  new ControlPlaneError('EtcdRefused', `etcd did not accept ${path}: ${found}`);
