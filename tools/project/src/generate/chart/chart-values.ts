import { clusterValues, formerValues } from './cluster-values.ts';
import { fleetValues } from './fleet-values.ts';
import { managerValues } from './manager-values.ts';
import { serviceGroups } from './service-values.ts';
import type { ChartValue } from './value.ts';

export interface ValueGroup {
  readonly title: string;
  readonly values: readonly ChartValue[];
}

const [registry = [], boot = [], events = [], metadata = [], dhcp = [], metal3 = []] = serviceGroups;

/** All values with an effect, in the order of values.yaml. */
export const valueGroups: readonly ValueGroup[] = [
  { title: 'Operator', values: managerValues },
  { title: 'Fleet', values: fleetValues },
  { title: 'Registry', values: registry },
  { title: 'Boot service', values: boot },
  { title: 'Events of BMCs', values: events },
  { title: 'Metadata', values: metadata },
  { title: 'DHCP', values: dhcp },
  { title: 'Metal3', values: metal3 },
  { title: 'Cluster', values: clusterValues },
];

export const effectiveValues: readonly ChartValue[] = valueGroups.flatMap(({ values }) => values);
export const chartValues: readonly ChartValue[] = [...effectiveValues, ...formerValues];
