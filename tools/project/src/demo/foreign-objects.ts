import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Kind } from '@metal/kube/kinds/kind.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { pino } from 'pino';
import { DemoFailed } from './demo-failed.ts';
import { isForeignRoot, nameOf } from './ownership.ts';

/** Calls back when the cluster has an object that the operator would act on and that the demo has not made. */
export async function watchForeignObjects(
  client: KubeClient,
  { withHosts, stack, found }: { withHosts: boolean; stack: AsyncDisposableStack; found: (error: DemoFailed) => void },
): Promise<void> {
  const caches = new CacheSet({ client, clock: systemClock, log: pino({ level: 'silent' }) });
  stack.defer(() => caches.stop());
  const kinds: Kind[] = [Endpoint, BMC, Server, ServerClaim, ...(withHosts ? [BareMetalHost] : [])];
  for (const kind of kinds)
    caches.watch(kind).onChange(({ after: object }) => {
      if (object === undefined || !isForeignRoot(object)) return;
      found(
        new DemoFailed(
          `stopped: expected only objects of the demo in the cluster, found ${nameOf({ kind, object })}, which may be a real server; the operator of the demo was ended at once`,
        ),
      );
    });
  await caches.start();
}
