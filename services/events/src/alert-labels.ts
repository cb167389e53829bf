import { copied } from './copied.ts';
import type { Alert } from './payload.ts';

export interface AlertLabels {
  readonly hostname: string;
  readonly severity: string;
  readonly message_id: string;
  readonly component: string;
}

/** Each set of labels is kept by the metrics store for good; a BMC that reports more kinds of events shares one. */
export const maxKindsPerBmc = 200;
/**
 * Firmware that puts the number of a log entry into each event makes every one a kind of its own. Where a fleet does, it has
 * this many in all, some 25 MB; and each BMC a few, so that those that behave are not counted under `other` for it.
 */
export const maxKindsTotal = 100_000;
export const kindsOfAnyBmc = 20;
const maxTextLength = 128;
const severities = ['OK', 'Warning', 'Critical'];

/** Chooses the labels an event is counted under, so that no BMC can fill the memory of those who watch it. */
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

  /** The sets of a BMC that is gone. */
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

/** How bad it is stays visible. */
const overflow = ({ hostname, severity }: AlertLabels): AlertLabels => ({
  hostname,
  severity: severities.includes(severity) ? severity : 'other',
  message_id: 'other',
  component: 'other',
});

const keyOf = ({ severity, message_id, component }: AlertLabels): string =>
  JSON.stringify([severity, message_id, component]);
