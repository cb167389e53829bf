import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { Event } from '../kinds/builtin.ts';
import type { KubeClient } from './client.ts';
import type { Clock } from '../runtime/clock.ts';
import { withoutControlCharacters } from '../runtime/printable.ts';
import type { KubeObject } from '../kinds/kind.ts';

export type EventType = 'Normal' | 'Warning';

export interface EventText {
  readonly type: EventType;
  /** CamelCase; the same in condition, event, log and documentation. */
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  /** Reporting controller. Default: the recorder's. */
  readonly controller?: string | undefined;
  /** Another object that the event is about. */
  readonly related?: Event['related'];
  /** Another note of the same reason is counted too, and not recorded again: the note names what changes all the time. */
  readonly isCountedByReason?: boolean;
}

export interface EventRecorder {
  /** Best effort: never throws, never waits. */
  record(object: KubeObject, text: EventText): void;
}

export const discardEvents: EventRecorder = { record: () => undefined };

interface RecordedEvent {
  readonly name: string;
  readonly namespace: string;
  readonly at: number;
  count: number;
}

const sameEventForMs = 10 * 60_000;
/** Events kept for dedup; of more within ten minutes, the oldest are recorded again. */
const mostRemembered = 10_000;
const longestNote = 1_024;

/** Records events.k8s.io events. Within ten minutes, equal events of an object are counted, not repeated. */
export function createEventRecorder({
  client,
  clock,
  log,
  controller,
}: {
  client: KubeClient;
  clock: Clock;
  log: Logger;
  controller: string;
}): EventRecorder {
  const recorded = new Map<string, RecordedEvent>();
  const send = (work: Promise<unknown>) =>
    void work.catch((error: unknown) =>
      log.debug({ error: error instanceof Error ? error.message : String(error) }, 'event not recorded'),
    );
  return {
    record: (object, text) => {
      const key = keyOf(object, text);
      const now = clock.now();
      const before = recorded.get(key);
      if (before !== undefined && now - before.at < sameEventForMs) {
        before.count += 1;
        // The count is written at every doubling, so that a busy loop does not flood the API server.
        if (Number.isInteger(Math.log2(before.count))) send(countUp(client, before, now));
        return;
      }
      forgetOld(recorded, now);
      const event = newEvent(object, text, controller, now);
      recorded.set(key, { ...event.metadata, at: now, count: 1 });
      send(client.create(Event, event));
    },
  };
}

function keyOf({ metadata }: KubeObject, { reason, note, isCountedByReason }: EventText): string {
  const about = `${metadata.uid ?? metadata.name}/${reason}`;
  return isCountedByReason === true ? about : `${about}/${note}`;
}

function newEvent(object: KubeObject, text: EventText, recorder: string, now: number) {
  return {
    metadata: {
      name: `${object.metadata.name.slice(0, 200)}.${randomBytes(8).toString('hex')}`,
      namespace: object.metadata.namespace ?? 'default',
    },
    ...describe(object, text, now),
    reportingController: text.controller ?? recorder,
    reportingInstance: `${recorder}-${hostname()}`.slice(0, 128),
  };
}

function describe({ apiVersion, kind, metadata }: KubeObject, text: EventText, now: number) {
  const { type, reason, action, note, related } = text;
  const { name, namespace, uid } = metadata;
  return {
    type,
    reason,
    action: action.slice(0, 128),
    note: withoutControlCharacters(note).slice(0, longestNote),
    eventTime: microTime(now),
    regarding: { apiVersion, kind, name, namespace, uid },
    ...(related === undefined ? {} : { related }),
  };
}

function countUp(client: KubeClient, { name, namespace, count }: RecordedEvent, now: number): Promise<unknown> {
  return client.mergePatch(Event, { name, namespace }, { series: { count, lastObservedTime: microTime(now) } });
}

function forgetOld(recorded: Map<string, RecordedEvent>, now: number): void {
  for (const [key, { at }] of recorded) {
    if (now - at < sameEventForMs && recorded.size < mostRemembered) return;
    recorded.delete(key);
  }
}

/** metav1.MicroTime. */
export const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
