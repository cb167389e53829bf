import { createRequire } from 'node:module';
import type { KubeConfig } from '@kubernetes/client-node';
import { nativeAccess, type Credentials, type ClusterAccess, type ClusterAccessOptions } from './kubeconfig.ts';

/**
 * Usual configurations are read here. The library reads all others (credential programs, OpenID, proxies, merged files)
 * and is loaded only for them: it costs 75 MiB and half a second.
 */
export const loadClusterAccess = (options: ClusterAccessOptions): ClusterAccess =>
  nativeAccess(options) ?? libraryAccess(options);

function libraryAccess({ kubeconfigPath, context }: ClusterAccessOptions): ClusterAccess {
  const config = newKubeConfig();
  if (kubeconfigPath === undefined) config.loadFromDefault();
  else config.loadFromFile(kubeconfigPath);
  if (context !== undefined) config.setCurrentContext(context);
  return {
    server: config.getCurrentCluster()?.server,
    credentials: async () => {
      // The library fills in certificate, key, verification and headers; its type wants the whole of https.RequestOptions.
      const options: Credentials = {};
      await config.applyToHTTPSOptions(options as Parameters<KubeConfig['applyToHTTPSOptions']>[0]);
      return options;
    },
  };
}

function newKubeConfig(): KubeConfig {
  // `require` loads it now, and only now; the type is that of the module.
  const library = createRequire(import.meta.url)('@kubernetes/client-node') as { KubeConfig: new () => KubeConfig };
  return new library.KubeConfig();
}
