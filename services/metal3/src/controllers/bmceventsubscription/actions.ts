import type { BMCEventSubscription } from '@metal/api/metal3/bmc-event-subscription.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import type { Metal3Context } from '../../context.ts';
import { HostSecretMissing } from '../../errors.ts';
import { textIn } from '../../objects/host-secrets.ts';
import { NodeUnknown, NotSupported } from '../../provisioner/node-services.ts';
import { failureMessage } from '../../siblings/node-reading.ts';
import type { SubscriptionAction, SubscriptionFacts, SubscriptionMemory } from './facts.ts';

type SubscriptionReconcile = Reconcile<BMCEventSubscription, SubscriptionFacts, Metal3Context, SubscriptionMemory>;

export const subscriptionActions: Record<SubscriptionAction, (reconcile: SubscriptionReconcile) => Promise<void>> = {
  subscribe,
  unsubscribe,
};

async function subscribe({ object, facts, context, memory, now }: SubscriptionReconcile): Promise<void> {
  const { host } = facts;
  if (host === undefined) return;
  const { destination = '', context: text = '' } = object.spec;
  try {
    const httpHeaders = await readHeaders(object, context);
    const services = await context.backEnds.of(host).servicesOf(host);
    memory.createdId = await services.addEventSubscription({ destination, context: text, httpHeaders });
    memory.failure = undefined;
  } catch (error) {
    memory.failure = { message: failureMessage(error), at: now };
  }
}

/** What the back end does not know, or cannot do, has left nothing behind. */
async function unsubscribe({ facts, context, memory, now }: SubscriptionReconcile): Promise<void> {
  const { host, id } = facts;
  if (host === undefined || id === undefined) return;
  try {
    const services = await context.backEnds.of(host).servicesOf(host);
    await services.removeEventSubscription(id);
    memory.isRemoved = true;
  } catch (error) {
    if (error instanceof NodeUnknown || error instanceof NotSupported) memory.isRemoved = true;
    else memory.failure = { message: failureMessage(error), at: now };
  }
}

/** Each key of the Secret is a header. Read by its name, in the namespace of the subscription only. */
async function readHeaders(
  { metadata, spec }: BMCEventSubscription,
  { client }: Metal3Context,
): Promise<Readonly<Record<string, string>>> {
  const { name = '' } = spec.httpHeadersRef ?? {};
  if (name === '') return {};
  const secret = await client.find(Secret, { namespace: metadata.namespace, name });
  if (secret === undefined)
    throw new HostSecretMissing(`Secret "${name}" with the HTTP headers does not exist: create it`);
  return Object.fromEntries(Object.keys(secret.data ?? {}).map((key) => [key, (textIn(secret, key) ?? '').trim()]));
}
