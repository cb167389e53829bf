import { type Sample, samplesOfEach, ScrapedMetric } from '@metal/kube/runtime/scraped-metric.ts';
import { Counter, type Registry } from 'prom-client';
import { type AlertLabels, AlertLabelSets } from './alert-labels.ts';
import type { Alert, Reading } from './payload.ts';
import type { Readings } from './readings.ts';

/** Events and readings of BMCs as metrics, with the names and labels of v0.7.0. */
export class EventMetrics {
  readonly #readings: Readings;
  readonly #labels = new AlertLabelSets();
  readonly #alerts = new Map<string, Map<AlertLabels, number>>();
  readonly #surplus: Counter | undefined;

  constructor(readings: Readings, registry: Registry | undefined) {
    this.#readings = readings;
    if (registry === undefined) return;
    void new ScrapedMetric({
      registry,
      name: 'redfish_event_alert_total',
      help: 'Events received from BMCs',
      type: 'counter',
      read: () => samplesOfEach(this.#alerts.values(), alertSamples),
    });
    this.#surplus = new Counter({
      name: 'metal_event_readings_dropped_total',
      help: 'Readings beyond the limit of sensors per BMC',
      labelNames: ['hostname'],
      registers: [registry],
    });
    void new ScrapedMetric({
      registry,
      name: 'redfish_monitor_reading',
      help: 'Last reading that a BMC pushed, exposed for ten minutes',
      read: () => readingSamples(readings),
    });
  }

  count(hostname: string, alerts: readonly Alert[]): void {
    const counts = this.#alerts.get(hostname) ?? new Map<AlertLabels, number>();
    this.#alerts.set(hostname, counts);
    for (const alert of alerts) {
      const labels = this.#labels.of(hostname, alert);
      counts.set(labels, (counts.get(labels) ?? 0) + 1);
    }
  }

  /** Returns the number of readings beyond the limit. */
  take(hostname: string, readings: readonly Reading[]): number {
    const surplus = this.#readings.take(hostname, readings);
    if (surplus > 0) this.#surplus?.inc({ hostname }, surplus);
    return surplus;
  }

  /** Drops the series of a deleted BMC. */
  forget(hostname: string): void {
    this.#readings.forget(hostname);
    this.#surplus?.remove({ hostname });
    this.#labels.forget(hostname);
    this.#alerts.delete(hostname);
  }
}

const alertSamples = (counts: ReadonlyMap<AlertLabels, number>): Sample[] =>
  [...counts].map(([labels, value]) => ({ labels: { ...labels }, value }));

function* readingSamples(readings: Readings): Generator<Sample> {
  for (const { bmc, reading } of readings.current()) {
    const { metricId, type, unit, property, value } = reading;
    yield { labels: { hostname: bmc, metric_id: metricId, type, unit, origin_context: property }, value };
  }
}
