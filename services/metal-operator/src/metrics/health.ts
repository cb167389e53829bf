import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Sample } from '@metal/kube/runtime/scraped-metric.ts';
import { healthLabelOf } from '@metal/operator/controllers/health-condition.ts';

/** One sample with the present health; none without a condition, as most fleets have many healthy servers. */
export function healthSamples(object: KubeObject, labels: Readonly<Record<string, string>>): Sample[] {
  const state = healthLabelOf(object);
  return state === undefined ? [] : [{ labels: { ...labels, state }, value: 1 }];
}
