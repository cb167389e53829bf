import * as z from 'zod';
import type { Bmc, CallOptions, WriteResponse } from '../http/bmc.ts';
import { listMembers } from './collections.ts';
import { pathOf } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import { flag, link, text, texts, uri } from '../fields.ts';
import { mapConcurrently } from './members.ts';

/** `Event`: alerts. `MetricReport`: periodic sensor readings. */
export type EventFormat = 'Event' | 'MetricReport';

export interface Subscription {
  /** `@odata.id`, as a path. */
  readonly uri: string;
  readonly destination: string | undefined;
  readonly context: string | undefined;
}

export interface EventService {
  readonly isEnabled: boolean;
  /** Path of the subscriptions. */
  readonly subscriptions: string;
  /** The formats that it offers; undefined when it lists none, as services before Redfish 2018: they know events only. */
  readonly formats: readonly string[] | undefined;
  /** Types of events that a subscription has to list, for services without formats; undefined when it lists none. */
  readonly eventTypes: readonly string[] | undefined;
}

/** Without a list of formats, the service has events. */
export const offersFormat = ({ formats }: EventService, format: EventFormat): boolean =>
  formats === undefined ? format === 'Event' : formats.includes(format);

export interface DesiredSubscription {
  readonly destination: string;
  readonly context: string;
  readonly format: EventFormat;
}

const eventService = z.object({
  ServiceEnabled: flag,
  Subscriptions: link,
  EventFormatTypes: texts,
  EventTypesForSubscription: texts,
});
const subscription = z.object({ '@odata.id': uri, Destination: text, Context: text });

/** A failing event service does not count as a failure of the BMC: everything else works without events. */
const sideResourceOptions = { isSideResource: true, priority: 'telemetry' } as const satisfies CallOptions;

/**
 * The event service, or undefined when the service root names none or it has no subscriptions. A service without ServiceEnabled
 * is enabled.
 */
export async function readEventService(bmc: Bmc, options: CallOptions = {}): Promise<EventService | undefined> {
  const { EventService: path } = await bmc.root(options);
  if (path === undefined) return undefined;
  try {
    const found = await bmc.get(path, eventService, { ...sideResourceOptions, ...options });
    const { ServiceEnabled: isEnabled = true, Subscriptions: subscriptions } = found;
    if (subscriptions === undefined) return undefined;
    const { EventFormatTypes: formats, EventTypesForSubscription: eventTypes } = found;
    return { isEnabled, subscriptions, formats: nonEmpty(formats), eventTypes: nonEmpty(eventTypes) };
  } catch (error) {
    if (error instanceof RedfishError && (error.code === 'NotFound' || error.status === 501)) return undefined;
    throw error;
  }
}

const nonEmpty = (values: readonly string[] | undefined) => (values?.length === 0 ? undefined : values);

/** The readable subscriptions; one that is deleted meanwhile, or fails, is left out. */
export async function readSubscriptions(
  bmc: Bmc,
  service: EventService,
  options: CallOptions = {},
): Promise<Subscription[]> {
  const all = { ...sideResourceOptions, ...options };
  const members = await listMembers(bmc, service.subscriptions, all);
  const read = await mapConcurrently(members, async (member) => {
    const known = subscription.safeParse(member);
    if (known.success && known.data.Destination !== undefined) return subscriptionOf(known.data);
    try {
      return subscriptionOf(await bmc.get(member['@odata.id'], subscription, all));
    } catch (error) {
      if (error instanceof RedfishError) return undefined;
      throw error;
    }
  });
  return read.filter((one) => one !== undefined);
}

/**
 * Subscribes and resolves with the path of the subscription. An existing one for the same destination is used instead: BMCs
 * reject a duplicate, and it is the operator's own when the response to an earlier request was lost.
 */
export async function subscribe(
  bmc: Bmc,
  service: EventService,
  desired: DesiredSubscription,
  options: CallOptions = {},
): Promise<string> {
  const outcome = await post(bmc, service, desired, options).catch(passDuplicate(desired.destination));
  if (!(outcome instanceof RedfishError) && outcome.location !== undefined) return outcome.location;
  // No Location, or a duplicate: the subscription exists, and its path is found by its destination.
  const found = (await readSubscriptions(bmc, service, options)).find((one) => isFor(one, desired));
  if (found !== undefined) return found.uri;
  throw outcome instanceof RedfishError ? outcome : missingLocationError(service);
}

/** Deletes a subscription. A missing one is no error. */
export async function unsubscribe(bmc: Bmc, uri: string, options: CallOptions = {}): Promise<void> {
  try {
    await bmc.delete(uri, { ...sideResourceOptions, ...options });
  } catch (error) {
    if (!(error instanceof RedfishError) || error.code !== 'NotFound') throw error;
  }
}

export const isFor = ({ destination, context }: Subscription, desired: Omit<DesiredSubscription, 'format'>): boolean =>
  destination === desired.destination && context === desired.context;

/** Some services list formats and reject the property that selects one: they send events without it. */
async function post(
  bmc: Bmc,
  { subscriptions, formats, eventTypes }: EventService,
  { destination, context, format }: DesiredSubscription,
  options: CallOptions,
): Promise<WriteResponse> {
  const { rejectedInSubscription } = bmc.traits;
  const send = (selection: Record<string, unknown>) => {
    const body = {
      Destination: destination,
      Protocol: 'Redfish',
      Context: context,
      DeliveryRetryPolicy: 'TerminateAfterRetries',
      ...selection,
    };
    const accepted = Object.entries(body).filter(([name]) => !rejectedInSubscription.includes(name));
    return bmc.post(subscriptions, Object.fromEntries(accepted), { ...sideResourceOptions, ...options });
  };
  const withoutFormat = eventTypes === undefined ? {} : { EventTypes: eventTypes };
  if (formats === undefined) return send(withoutFormat);
  try {
    return await send({ EventFormatType: format });
  } catch (error) {
    const isRejected = error instanceof RedfishError && error.status === 400 && !isDuplicateError(error, destination);
    if (!isRejected || format !== 'Event') throw error;
    return send(withoutFormat);
  }
}

const missingLocationError = ({ subscriptions }: EventService): RedfishError =>
  new RedfishError({
    code: 'BadAnswer',
    message: `${subscriptions}: the subscription was accepted, but the answer does not say where it is, and none has its destination`,
  });

/** Returns the error of a duplicate; every other error is thrown on. */
const passDuplicate =
  (destination: string) =>
  (error: unknown): RedfishError => {
    if (error instanceof RedfishError && isDuplicateError(error, destination)) return error;
    throw error;
  };

/** iDRAC answers ResourceAlreadyExists; others answer PropertyValueModified with the destination. */
function isDuplicateError(error: RedfishError, destination: string): boolean {
  const mentions = (term: string) => error.message.includes(term) || error.messageIds.some((id) => id.includes(term));
  return (
    mentions('ResourceAlreadyExists') || (mentions('PropertyValueModified') && error.message.includes(destination))
  );
}

const subscriptionOf = (found: z.output<typeof subscription>): Subscription => ({
  uri: pathOf(found['@odata.id']),
  destination: found.Destination,
  context: found.Context,
});
