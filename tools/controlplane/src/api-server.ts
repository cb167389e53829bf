import { request } from 'node:https';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { Child } from './child.ts';
import type { Pki } from './pki.ts';

export interface ApiServerOptions {
  readonly binaries: Binaries;
  readonly directory: string;
  readonly pki: Pki;
  readonly etcdUrl: string;
  readonly etcdPrefix: string;
  readonly port: number;
}

/** Starts a kube-apiserver with RBAC and waits until it is ready. */
export async function startApiServer({
  binaries,
  directory,
  pki,
  etcdUrl,
  etcdPrefix,
  port,
}: ApiServerOptions): Promise<Child> {
  const child = new Child({
    name: 'kube-apiserver',
    command: binaries.apiServer,
    directory,
    logFile: join(directory, 'kube-apiserver.log'),
    args: [
      `--etcd-servers=${etcdUrl}`,
      `--etcd-prefix=${etcdPrefix}`,
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      // Without a default route the API server would find no address of its own and refuse to start.
      '--advertise-address=127.0.0.1',
      '--endpoint-reconciler-type=none',
      '--service-cluster-ip-range=10.0.0.0/24',
      '--authorization-mode=RBAC',
      '--enable-priority-and-fairness=false',
      `--tls-cert-file=${pki.path('server.crt')}`,
      `--tls-private-key-file=${pki.path('server.key')}`,
      `--client-ca-file=${pki.path('ca.crt')}`,
      `--service-account-key-file=${pki.path('service-account.pub')}`,
      `--service-account-signing-key-file=${pki.path('service-account.key')}`,
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      '--shutdown-delay-duration=0s',
    ],
  });
  await child
    .until(() => isReady(port, pki), 60_000)
    .catch(async (error: unknown) => {
      await child.stop();
      throw error;
    });
  return child;
}

/** Ready as the administrator sees it: RBAC's own rules are in place too. */
function isReady(port: number, { authority, admin }: Pki): Promise<boolean> {
  return new Promise((resolve) => {
    const options = {
      host: '127.0.0.1',
      port,
      path: '/readyz',
      ca: authority.certificatePem,
      cert: admin.certificatePem,
      key: admin.keyPem,
      timeout: 1_000,
      agent: false,
    };
    const call = request(options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.once('error', () => resolve(false));
    call.once('timeout', () => call.destroy());
    call.end();
  });
}
