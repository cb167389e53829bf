import { ScrapedMetric } from '@metal/kube/runtime/scraped-metric.ts';
import type { Registry } from 'prom-client';

/** Tells whether machines are answered by this process. Of a dnsmasq elsewhere it knows nothing, and says nothing. */
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
