import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { subscriptionContext } from '@metal/api/wire/contract.ts';
import { mintEventToken } from '@metal/api/wire/event-token.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import type { Bmc } from '@metal/redfish/http/bmc.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import {
  type EventService,
  isFor,
  offersFormat,
  readEventService,
  readSubscriptions,
  type Subscription,
  subscribe as subscribeAt,
  unsubscribe as unsubscribeAt,
} from '@metal/redfish/resources/subscriptions.ts';
import type { OperatorContext } from '../../context.ts';
import { StaleDecision } from '../../../errors.ts';
import type { EventsOutcome, EventsProblem } from '../../../bmc-connections/observed-bmc.ts';
import type { BmcEventsAction, BmcEventsFacts } from './facts.ts';

type EventsReconcile = Reconcile<BMC, BmcEventsFacts, OperatorContext>;

export const bmcEventsActions: Record<BmcEventsAction, (reconcile: EventsReconcile) => Promise<void>> = {
  subscribe,
  unsubscribe,
  giveUp,
};

/** For each request: the deletion of an object waits for it. */
const unsubscribeDeadlineMs = 10_000;

/** The URLs that the BMC sends events and metric reports to. The paths are those of v0.7.0, with the token in front of the name. */
interface Destinations {
  readonly events: string;
  readonly metrics: string;
  /** Must not appear in any message. */
  readonly token: string | undefined;
}

async function subscribe(reconcile: EventsReconcile): Promise<void> {
  const destinations = await destinationsOf(reconcile);
  recordOutcome(
    reconcile,
    await attempt(reconcile, destinations.token, (links) => subscribeAll(reconcile, destinations, links)),
  );
}

/** Subscribes to each format that the event service offers, and records each subscription in `links` as it is made. */
async function subscribeAll(
  reconcile: EventsReconcile,
  { events, metrics }: Destinations,
  links: Links,
): Promise<Omit<EventsOutcome, 'at'>> {
  const { signal } = reconcile;
  const bmc = bmcClientOf(reconcile);
  const service = await readEventService(bmc, { signal });
  if (service === undefined) return without('EventServiceMissing', 'the BMC has no event service');
  if (!service.isEnabled)
    return without('EventServiceDisabled', 'the event service of the BMC is switched off; enable it there');
  const present = await readSubscriptions(bmc, service, { signal });
  await deleteStaleSubscriptions(bmc, findStaleSubscriptions(present, [events, metrics], reconcile), signal);
  const one = (destination: string, format: 'Event' | 'MetricReport') =>
    findOrSubscribe(bmc, service, present, { destination, context: subscriptionContext, format });
  for (const [name, destination, format] of [
    ['events', events, 'Event'],
    ['metrics', metrics, 'MetricReport'],
  ] as const)
    if (offersFormat(service, format)) links[name] = await one(destination, format);
    else links[name] = undefined;
  return { links };
}

async function findOrSubscribe(
  bmc: Bmc,
  service: EventService,
  present: readonly Subscription[],
  options: Parameters<typeof subscribeAt>[2],
): Promise<string> {
  return present.find((one) => isFor(one, options))?.uri ?? subscribeAt(bmc, service, options);
}

/** Our subscriptions for this BMC with another destination: of an earlier BMC object of this name, or of another event URL. */
function findStaleSubscriptions(
  present: readonly Subscription[],
  wanted: readonly string[],
  reconcile: EventsReconcile,
): Subscription[] {
  const { object, facts, context } = reconcile;
  const { events, metrics } = facts.links;
  const prefix = `${context.config.eventUrl ?? ''}/serverevents/`;
  return present.filter(({ uri, destination = '', context: subscriptionOwner }) => {
    if (subscriptionOwner !== subscriptionContext || wanted.includes(destination)) return false;
    const isNamedAlike = destination.startsWith(prefix) && destination.endsWith(`/${object.metadata.name}`);
    return isNamedAlike || uri === events || uri === metrics;
  });
}

async function deleteStaleSubscriptions(bmc: Bmc, stale: readonly Subscription[], signal: AbortSignal): Promise<void> {
  for (const { uri } of stale) await unsubscribeAt(bmc, uri, { signal });
}

async function unsubscribe(reconcile: EventsReconcile): Promise<void> {
  const { events, metrics } = reconcile.facts.links;
  const end = async (links: Links) => {
    for (const [name, uri] of [
      ['events', events],
      ['metrics', metrics],
    ] as const) {
      if (uri === undefined) continue;
      const options = { signal: reconcile.signal, deadlineMs: unsubscribeDeadlineMs };
      await unsubscribeAt(bmcClientOf(reconcile), uri, options);
      links[name] = undefined;
    }
    return { links };
  };
  recordOutcome(reconcile, await attempt(reconcile, undefined, end));
}

async function giveUp(reconcile: EventsReconcile): Promise<void> {
  const { events, metrics } = reconcile.facts.links;
  const left = [events, metrics].filter((uri) => uri !== undefined).join(' and ');
  reconcile.warn(
    'SubscriptionsLeftBehind',
    `The BMC could not be asked to drop its event subscriptions ${left}: ${reconcile.facts.problem?.message ?? 'nothing is known to connect with'}`,
  );
  recordOutcome(reconcile, { links: reconcile.facts.links, isGivenUp: true });
}

/** The links as far as the work has got. */
type Links = { -readonly [Name in keyof EventsOutcome['links']]: EventsOutcome['links'][Name] };

/** A failed subscription is an outcome, not an error: nothing else depends on events. */
async function attempt(
  { facts }: EventsReconcile,
  token: string | undefined,
  work: (links: Links) => Promise<Omit<EventsOutcome, 'at'>>,
): Promise<Omit<EventsOutcome, 'at'>> {
  const links: Links = { ...facts.links };
  try {
    return await work(links);
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    const message = token === undefined ? error.message : error.message.replaceAll(token, '***');
    return { links, problem: { reason: 'SubscriptionFailed', message } };
  }
}

const without = (reason: EventsProblem, message: string): Omit<EventsOutcome, 'at'> => ({
  links: {},
  problem: { reason, message },
});

function recordOutcome({ object, facts, context, now }: EventsReconcile, outcome: Omit<EventsOutcome, 'at'>): void {
  context.bmcConnections.observedBmc(object.metadata.name, facts.connection).events = { at: now, ...outcome };
}

function bmcClientOf({ object, facts, context }: EventsReconcile): Bmc {
  if (facts.connection === undefined) throw new StaleDecision('the BMC lost its address or credentials');
  return context.bmcConnections.getBmc(object.metadata.name, facts.connection);
}

async function destinationsOf({ object, context }: EventsReconcile): Promise<Destinations> {
  const { eventUrl = '', eventAuth } = context.config;
  const { name, uid = '' } = object.metadata;
  const token = eventAuth === 'token' ? mintEventToken(await context.bootTokenKey(), uid) : undefined;
  const tail = token === undefined ? name : `${token}/${name}`;
  return {
    events: `${eventUrl}/serverevents/alerts/${tail}`,
    metrics: `${eventUrl}/serverevents/metricsreport/${tail}`,
    token,
  };
}
