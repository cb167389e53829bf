import { Counter, Gauge, type Registry } from 'prom-client';
import { AlertLabelSets } from './alert-labels.ts';
import type { Alert, Reading } from './payload.ts';
import type { Readings } from './readings.ts';

/** What BMCs push, as metrics: names and labels of v0.7.0. */
export class EventMetrics {
  readonly #readings: Readings;
  readonly #labels = new AlertLabelSets();
  readonly #alerts: Counter | undefined;
  readonly #surplus: Counter | undefined;

  constructor(readings: Readings, metrics: Registry | undefined) {
    this.#readings = readings;
    if (metrics === undefined) return;
    const registers = [metrics];
    this.#alerts = new Counter({
      name: 'redfish_event_alert_total',
      help: 'Events received from BMCs',
      labelNames: ['hostname', 'severity', 'message_id', 'component'],
      registers,
    });
    this.#surplus = new Counter({
      name: 'metal_event_readings_dropped_total',
      help: 'Readings of BMCs that report more sensors than are kept',
      labelNames: ['hostname'],
      registers,
    });
    showReadings(readings, registers);
  }

  count(hostname: string, alerts: readonly Alert[]): void {
    for (const alert of alerts) this.#alerts?.inc({ ...this.#labels.of(hostname, alert) });
  }

  /** Returns how many found no room. */
  take(hostname: string, readings: readonly Reading[]): number {
    const surplus = this.#readings.take(hostname, readings);
    if (surplus > 0) this.#surplus?.inc({ hostname }, surplus);
    return surplus;
  }

  /** A BMC that is gone leaves no series behind. */
  forget(hostname: string): void {
    this.#readings.forget(hostname);
    this.#surplus?.remove({ hostname });
    for (const labels of this.#labels.forget(hostname)) this.#alerts?.remove({ ...labels });
  }
}

/** Computed when it is scraped, so that a reading that has grown old is not shown. */
function showReadings(readings: Readings, registers: Registry[]): void {
  const gauge: Gauge = new Gauge({
    name: 'redfish_monitor_reading',
    help: 'Last value that a BMC pushed, for ten minutes',
    labelNames: ['hostname', 'metric_id', 'type', 'unit', 'origin_context'],
    registers,
    collect: () => {
      gauge.reset();
      for (const { bmc, reading } of readings.current()) {
        const { metricId, type, unit, property, value } = reading;
        gauge.set({ hostname: bmc, metric_id: metricId, type, unit, origin_context: property }, value);
      }
    },
  });
}
