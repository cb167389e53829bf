import type { EventType } from '../client/events.ts';
import { minutes } from '../runtime/durations.ts';
import type { ReasonWeight } from './decide.ts';

export type Weighted = { readonly weight: ReasonWeight } | undefined;

/** Type of an event about a reason. The level of its log line follows it. */
export const eventTypeOf = (entry: Weighted): EventType =>
  entry?.weight === 'needsPerson' || entry?.weight === 'failed' ? 'Warning' : 'Normal';

/** How long a wait lasts before it gets an event. A machine takes minutes to start, which is none. */
const eventAfterMs: Readonly<Record<ReasonWeight, number>> = {
  failed: 0,
  needsPerson: minutes(1),
  waiting: minutes(15),
  working: Infinity,
  ok: Infinity,
};

export const eventDelayOf = (entry: Weighted): number => (entry === undefined ? Infinity : eventAfterMs[entry.weight]);
