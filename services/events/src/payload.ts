import * as z from 'zod';
import { HttpError } from '@metal/http/http-error.ts';

/** BMCs leave out fields and send other types than the standard has: a field of another type counts as absent. */
const text = z.string().catch('');
const list = z.array(z.unknown()).nullish();

/** DSP0268 defines a link object here; iDRAC sends the path as a string. */
const origin = z
  .union([z.string(), z.object({ '@odata.id': z.string() }).transform((link) => link['@odata.id'])])
  .catch('');

const event = z.object({
  EventType: text,
  MessageSeverity: text,
  Severity: text,
  MessageId: text,
  EventId: text,
  Message: text,
  OriginOfCondition: origin,
});
const eventPayload = z.object({ Events: list, Alerts: list });

const metricValue = z.object({
  MetricId: text,
  MetricProperty: text,
  MetricValue: z.union([z.string(), z.number()]).catch(''),
  MetricValueKind: text,
  Units: text,
});
const metricReport = z.object({ MetricValues: list });

export interface Alert {
  readonly severity: string;
  readonly messageId: string;
  readonly component: string;
  /** The event is about power or state, so the observed state of the machine may be stale. */
  readonly aboutState: boolean;
}

export interface Reading {
  readonly metricId: string;
  readonly property: string;
  readonly type: string;
  readonly unit: string;
  readonly value: number;
}

/** The events of a Redfish Event. @throws HttpError 400 for any other body */
export function alertsIn(bytes: Uint8Array): Alert[] {
  const { Events, Alerts } = parsed(bytes, eventPayload);
  const found = Events === undefined || Events === null || Events.length === 0 ? Alerts : Events;
  return (found ?? [])
    .map((one) => event.safeParse(one))
    .flatMap(({ data }) => (data === undefined ? [] : [alertOf(data)]));
}

const aboutState = /ResourceEvent\.|StatusChange|StateChanged|power|reset|reboot|turning (?:on|off)/i;

const alertOf = (one: z.output<typeof event>): Alert => ({
  severity: one.MessageSeverity || one.Severity,
  messageId: one.MessageId || one.EventId,
  component: one.OriginOfCondition.split('/').findLast((segment) => segment !== '') ?? 'system',
  aboutState: [one.EventType, one.MessageId, one.Message].some((value) => aboutState.test(value)),
});

/** The numbers of a Redfish MetricReport. @throws HttpError 400 for any other body */
export function readingsIn(bytes: Uint8Array): Reading[] {
  const { MetricValues } = parsed(bytes, metricReport);
  return (MetricValues ?? [])
    .map((one) => metricValue.safeParse(one))
    .flatMap(({ data }) => (data === undefined ? [] : readingOf(data)));
}

function readingOf(one: z.output<typeof metricValue>): Reading[] {
  const value = typeof one.MetricValue === 'number' ? one.MetricValue : numberIn(one.MetricValue);
  if (!Number.isFinite(value)) return [];
  const guess = /temp/i.test(one.MetricId) ? 'Temperature' : 'Gauge';
  return [
    {
      metricId: one.MetricId,
      property: one.MetricProperty,
      type: one.MetricValueKind || guess,
      unit: one.Units,
      value,
    },
  ];
}

/** `Number('')` is 0. */
const numberIn = (value: string): number => (value.trim() === '' ? Number.NaN : Number(value));

function parsed<Schema extends z.ZodType>(bytes: Uint8Array, schema: Schema): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch (cause) {
    throw new HttpError(400, `the body cannot be decoded (${bytes.length} bytes)`, { cause });
  }
}
