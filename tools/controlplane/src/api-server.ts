import { request } from 'node:https';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { Child } from '@metal/process/child.ts';
import { startFailed } from './errors.ts';
import type { Pki } from './pki.ts';

export interface ApiServerOptions {
  readonly binaries: Binaries;
  readonly directory: string;
  readonly pki: Pki;
  readonly etcdUrl: string;
  readonly port: number;
  readonly moreFlags: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

export interface ApiServerEndpoint {
  readonly port: number;
  readonly pki: Pki;
}

const readyWithinMs = 60_000;

/** Starts a kube-apiserver with RBAC and waits until an administrator can use it. */
export async function startApiServer(options: ApiServerOptions): Promise<Child> {
  const { binaries, directory, signal } = options;
  const child = new Child({
    name: 'kube-apiserver',
    command: binaries.apiServer,
    directory,
    logFile: join(directory, 'kube-apiserver.log'),
    failure: startFailed,
    // With its small initial heap, a new API server spends a tenth of its processor time on garbage collection.
    // A third of a handshake is the post-quantum key exchange, which loopback does not need; each watch has a connection of its own.
    defaults: { GOGC: '400', GODEBUG: 'tlsmlkem=0' },
    args: flags(options),
  });
  await child
    .until(() => isReadyForAdministrators(options), readyWithinMs, signal)
    .catch(async (error: unknown) => {
      await child.kill();
      throw error;
    });
  return child;
}

const flags = ({ etcdUrl, port, pki, moreFlags }: ApiServerOptions): string[] => [
  `--etcd-servers=${etcdUrl}`,
  `--secure-port=${port}`,
  '--bind-address=127.0.0.1',
  // Without a default route the API server finds no address to advertise and does not start.
  '--advertise-address=127.0.0.1',
  '--endpoint-reconciler-type=none',
  '--service-cluster-ip-range=10.0.0.0/24',
  '--authorization-mode=RBAC',
  '--enable-priority-and-fairness=false',
  '--profiling=false',
  `--tls-cert-file=${pki.path('server.crt')}`,
  `--tls-private-key-file=${pki.path('server.key')}`,
  `--client-ca-file=${pki.path('ca.crt')}`,
  `--service-account-key-file=${pki.path('service-account.pub')}`,
  `--service-account-signing-key-file=${pki.path('service-account.key')}`,
  '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
  '--shutdown-delay-duration=0s',
  ...moreFlags,
];

// Both take a second or more, mostly waiting, and an administrator needs neither.
const lateHooks = ['poststarthook/rbac/bootstrap-roles', 'poststarthook/scheduling/bootstrap-system-priority-classes'];
const administratorReadyzPath = `/readyz?${lateHooks.map((hook) => `exclude=${hook}`).join('&')}`;

async function isReadyForAdministrators(endpoint: ApiServerEndpoint): Promise<boolean> {
  if (!(await respondsOk(endpoint, administratorReadyzPath))) return false;
  // Readiness does not wait for the namespaces that the API server creates.
  return respondsOk(endpoint, '/api/v1/namespaces/default');
}

/** Ready according to /readyz: the default roles exist too. */
export const isReady = (endpoint: ApiServerEndpoint): Promise<boolean> => respondsOk(endpoint, '/readyz');

/** True if the API server answers 200 to an administrator. */
export function respondsOk({ port, pki: { authority, admin } }: ApiServerEndpoint, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const options = {
      host: '127.0.0.1',
      port,
      path,
      ca: authority.certificatePem,
      cert: admin.certificatePem,
      key: admin.keyPem,
      timeout: 1_000,
      agent: false,
    };
    const clientRequest = request(options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    clientRequest.once('error', () => resolve(false));
    clientRequest.once('timeout', () => clientRequest.destroy());
    clientRequest.end();
  });
}
