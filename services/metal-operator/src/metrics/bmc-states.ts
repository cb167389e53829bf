import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { decommissionedAnnotation } from '@metal/api/wire/contract.ts';
import { bmcController } from '@metal/operator/controllers/bmc/lifecycle/controller.ts';
import type { Registry } from 'prom-client';
import { healthSamples } from './health.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { oneOf, samplesOfEach, ScrapedMetric } from '@metal/kube/runtime/scraped-metric.ts';

const states = Object.keys(bmcController.transitions);

/** One that nothing is sent to has no alert. */
const inService = ({ metadata }: BMC): boolean => metadata.annotations?.[decommissionedAnnotation] === undefined;

/** State of every BMC, and whether it is ready, with the reason. */
export function exportBmcs(registry: Registry, bmcs: Cache<BMC>): void {
  void new ScrapedMetric({
    registry,
    name: 'metal_bmc_state',
    help: '1 for the state a BMC is in, 0 for every other one',
    read: () =>
      samplesOfEach(bmcs.all(), ({ metadata, status }) =>
        oneOf(states, status?.state || 'Pending', { bmc: metadata.name }, 'state'),
      ),
  });
  void new ScrapedMetric({
    registry,
    name: 'metal_bmc_health',
    help: '1 for the health that a BMC reports of itself: OK, Warning, Critical or Unknown',
    read: () =>
      samplesOfEach(bmcs.all(), (bmc) => (inService(bmc) ? healthSamples(bmc, { bmc: bmc.metadata.name }) : [])),
  });
  void new ScrapedMetric({
    registry,
    name: 'metal_bmc_ready',
    help: '1 while the BMC answers us, else 0; with the reason of its condition Ready',
    read: () =>
      samplesOfEach(bmcs.all(), (bmc) => {
        if (!inService(bmc)) return [];
        const { metadata, status } = bmc;
        const ready = status?.conditions?.find(({ type }) => type === 'Ready');
        const labels = { bmc: metadata.name, reason: ready?.reason ?? 'NotYetSeen' };
        return [{ labels, value: Number(ready?.status === 'True') }];
      }),
  });
}
