import { ScrapedMetric } from '@metal/kube/runtime/scraped-metric.ts';
import type { Registry } from 'prom-client';

/** Whether the dnsmasq of this process listens. With a dnsmasq elsewhere there is no sample. */
export class ListeningMetric {
  #isListening = false;

  constructor({ mode, metrics }: { mode: 'dnsmasq' | 'files'; metrics?: Registry | undefined }) {
    if (metrics === undefined) return;
    void new ScrapedMetric({
      registry: metrics,
      name: 'metal_dhcp_up',
      help: '1 while the dnsmasq of this process listens, else 0',
      read: () => (mode === 'dnsmasq' ? [{ labels: {}, value: this.#isListening ? 1 : 0 }] : []),
    });
  }

  set(isListening: boolean): void {
    this.#isListening = isListening;
  }
}
