import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { BMCEventSubscription } from '@metal/api/metal3/bmc-event-subscription.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import type { Metal3Context } from '../../context.ts';
import { type HostBlocker, hostBlockerOf } from '../../siblings/host-blocker.ts';

export type SubscriptionPhase = 'Present';
export type SubscriptionAction = 'subscribe' | 'unsubscribe';

export interface SubscriptionFacts {
  readonly host: BareMetalHost | undefined;
  readonly blocker: HostBlocker | undefined;
  /** In the BMC; undefined: there is none, or none any more. */
  readonly id: string | undefined;
  /** Namespace of the Secret with headers, if it is another one. */
  readonly foreignNamespace: string | undefined;
  /** Of the last attempt, while it is waited for. */
  readonly failure: { readonly message: string; readonly retryInMs: number } | undefined;
}

export interface SubscriptionMemory {
  /** Created by this process, so that it is not created twice whatever the status says. */
  createdId: string | undefined;
  isRemoved: boolean;
  failure: { readonly message: string; readonly at: number } | undefined;
}

export const newMemory = (): SubscriptionMemory => ({ createdId: undefined, isRemoved: false, failure: undefined });

const retryMs = seconds(30);

export function readSubscriptionFacts(
  { metadata, spec, status }: BMCEventSubscription,
  { caches }: Metal3Context,
  { now, memory }: { readonly now: number; readonly memory: Readonly<SubscriptionMemory> },
): SubscriptionFacts {
  const { namespace = '' } = metadata;
  const { hostName = '', httpHeadersRef } = spec;
  const host = caches.hosts.get({ namespace, name: hostName });
  const id = memory.createdId ?? status?.subscriptionID ?? '';
  const headersNamespace = httpHeadersRef?.namespace ?? namespace;
  const { failure } = memory;
  const retryInMs = failure === undefined ? 0 : failure.at + retryMs - now;
  return {
    host,
    blocker: hostBlockerOf(hostName, host),
    id: memory.isRemoved || id === '' ? undefined : id,
    foreignNamespace: headersNamespace === namespace ? undefined : headersNamespace,
    failure: failure === undefined || retryInMs <= 0 ? undefined : { message: failure.message, retryInMs },
  };
}
