import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { bootConfigColumns, bootConfigStatus, bootGroup, commonBootFields } from '../common/boot-config.ts';
import { defaulted, version } from '../common/fields.ts';

const spec = z.object({
  ...commonBootFields(),
  networkIdentifiers: z
    .array(z.string())
    .optional()
    .describe('IP addresses and MAC addresses of the network interfaces.'),
  ukiURL: z.string().optional().describe('URL of the unified kernel image (UKI).'),
});

/** UEFI HTTP boot parameters of one machine, for other programs of IronCore. */
export const HTTPBootConfig = defineKind({
  group: bootGroup,
  version,
  kind: 'HTTPBootConfig',
  plural: 'httpbootconfigs',
  scope: 'Namespaced',
  description:
    'UEFI HTTP boot parameters of one machine. Written by the boot service for other programs (--publish-boot-configs).',
  columns: bootConfigColumns,
  fields: { spec: defaulted(spec.describe('Boot parameters.'), {}), status: bootConfigStatus() },
});
export type HTTPBootConfig = ObjectOf<typeof HTTPBootConfig>;
