import { copied } from './copied.ts';
import type { Alert } from './payload.ts';

export interface AlertLabels {
  readonly hostname: string;
  readonly severity: string;
  readonly message_id: string;
  readonly component: string;
}

/** Each set of labels is kept by the metrics store for good; a BMC that reports more kinds of events shares one. */
export const mostKindsPerBmc = 200;
const longestText = 128;
const severities = ['OK', 'Warning', 'Critical'];

/** Chooses the labels an event is counted under, so that no BMC can fill the memory of those who watch it. */
export class AlertLabelSets {
  readonly #byBmc = new Map<string, Map<string, AlertLabels>>();

  of(hostname: string, { severity, messageId, component }: Alert): AlertLabels {
    const known = this.#byBmc.get(hostname) ?? new Map<string, AlertLabels>();
    this.#byBmc.set(hostname, known);
    const labels = {
      hostname,
      severity: severity.slice(0, longestText),
      message_id: messageId.slice(0, longestText),
      component: component.slice(0, longestText),
    };
    const chosen = known.has(keyOf(labels)) || known.size < mostKindsPerBmc ? labels : overflow(labels);
    return known.get(keyOf(chosen)) ?? remember(known, chosen);
  }

  /** The sets of a BMC that is gone. */
  forget(hostname: string): readonly AlertLabels[] {
    const labels = [...(this.#byBmc.get(hostname)?.values() ?? [])];
    this.#byBmc.delete(hostname);
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
