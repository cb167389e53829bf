import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, defaulted } from '../common/fields.ts';
import { metal3Group, metal3Version } from './fields.ts';
import { hardwareDetails } from './hardware-details.ts';

/** The inspected hardware of the BareMetalHost of the same name. It survives a move to another cluster. */
export const HardwareData = defineKind({
  group: metal3Group,
  version: metal3Version,
  kind: 'HardwareData',
  plural: 'hardwaredata',
  shortNames: ['hd'],
  scope: 'Namespaced',
  description: 'Inspected hardware of the BareMetalHost of the same name.',
  // clusterctl moves it with its host.
  labels: { 'clusterctl.cluster.x-k8s.io': '' },
  hasStatusSubresource: false,
  columns: age,
  fields: {
    spec: defaulted(
      z
        .object({ hardware: hardwareDetails().optional().describe('Result of the inspection.') })
        .describe('Inspected hardware.'),
      {},
    ),
  },
});
export type HardwareData = ObjectOf<typeof HardwareData>;
