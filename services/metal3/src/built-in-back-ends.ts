import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { IronicBackEnd } from './ironic/ironic-back-end.ts';
import { machineOwner } from './ironic/machine-owner.ts';
import type { NativeCaches } from './native/host-objects.ts';
import { NativeBackEnd } from './native/native-back-end.ts';
import type { BackEndName, Metal3Config } from './options.ts';
import type { BackEnd } from './provisioner/back-end.ts';

export interface BackEndOptions {
  readonly config: Metal3Config;
  /** The machines that the operator manages. */
  readonly caches: NativeCaches & { readonly endpoints: Cache<Endpoint> };
  readonly client: KubeClient;
  /** Erasure of Servers without a policy of their own: --cleanup-disks. */
  readonly fleetDisks: string;
  /** The operator reads the firmware of machines: --publish-firmware. */
  readonly publishesFirmware: boolean;
  readonly clock: Clock;
  readonly random: () => number;
}

/** The back ends that this process has. To add one, add a line. The stack owns their connections. */
export function builtInBackEnds(
  options: BackEndOptions,
  stack: AsyncDisposableStack,
): Readonly<Partial<Record<BackEndName, BackEnd>>> {
  return { native: new NativeBackEnd(options), ...ironicOf(options, stack) };
}

function ironicOf({ config: { ironic }, caches, clock, random }: BackEndOptions, stack: AsyncDisposableStack) {
  if (ironic === undefined) return {};
  const rejectionOf = (address: string) => {
    const { bmcs, endpoints, servers } = caches;
    return machineOwner(address, {
      bmcs: [...bmcs.all()],
      endpoints: [...endpoints.all()],
      servers: [...servers.all()],
    });
  };
  const backEnd = new IronicBackEnd({
    options: ironic,
    clock,
    random,
    rejectionOf: ({ spec }) => rejectionOf(spec.bmc?.address ?? ''),
  });
  return { ironic: stack.use(backEnd) };
}
