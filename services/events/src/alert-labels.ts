import { copied } from './copied.ts';
import type { Alert } from './payload.ts';

export interface AlertLabels {
  readonly hostname: string;
  readonly severity: string;
  readonly message_id: string;
  readonly component: string;
}

/** Prometheus keeps each label set; further kinds of events of a BMC share one. */
export const maxKindsPerBmc = 200;
/**
 * Some firmware puts the number of a log entry into each message ID, so that each event is a kind of its own. This bounds the
 * kinds of the fleet, at some 25 MB; beyond it each BMC still has a few, so that a BMC with few kinds keeps its labels.
 */
export const maxKindsTotal = 100_000;
export const kindsOfAnyBmc = 20;
const maxTextLength = 128;
const severities = ['OK', 'Warning', 'Critical'];

/** Selects the labels of an event, and bounds their number: no BMC can exhaust the memory of this process or of Prometheus. */
export class AlertLabelSets {
  readonly #byBmc = new Map<string, Map<string, AlertLabels>>();
  #size = 0;

  of(hostname: string, { severity, messageId, component }: Alert): AlertLabels {
    const known = this.#byBmc.get(hostname) ?? new Map<string, AlertLabels>();
    this.#byBmc.set(hostname, known);
    const labels = {
      hostname,
      severity: severity.slice(0, maxTextLength),
      message_id: messageId.slice(0, maxTextLength),
      component: component.slice(0, maxTextLength),
    };
    const limit = this.#size < maxKindsTotal ? maxKindsPerBmc : kindsOfAnyBmc;
    const chosen = known.has(keyOf(labels)) || known.size < limit ? labels : overflow(labels);
    const kept = known.get(keyOf(chosen));
    if (kept !== undefined) return kept;
    this.#size += 1;
    return remember(known, chosen);
  }

  /** Returns and drops the label sets of a deleted BMC. */
  forget(hostname: string): readonly AlertLabels[] {
    const labels = [...(this.#byBmc.get(hostname)?.values() ?? [])];
    this.#byBmc.delete(hostname);
    this.#size -= labels.length;
    return labels;
  }
}

function remember(
  known: Map<string, AlertLabels>,
  { hostname, severity, message_id, component }: AlertLabels,
): AlertLabels {
  const kept = {
    hostname,
    severity: copied(severity),
    message_id: copied(message_id),
    component: copied(component),
  };
  known.set(keyOf(kept), kept);
  return kept;
}

/** Keeps the severity. */
const overflow = ({ hostname, severity }: AlertLabels): AlertLabels => ({
  hostname,
  severity: severities.includes(severity) ? severity : 'other',
  message_id: 'other',
  component: 'other',
});

const keyOf = ({ severity, message_id, component }: AlertLabels): string =>
  JSON.stringify([severity, message_id, component]);
