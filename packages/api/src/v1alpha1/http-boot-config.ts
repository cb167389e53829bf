import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { bootConfigColumns, bootConfigStatus, bootGroup, commonBootFields } from '../common/boot-config.ts';
import { defaulted, version } from '../common/fields.ts';

const spec = z.object({
  ...commonBootFields(),
  networkIdentifiers: z.array(z.string()).optional().describe('Addresses and MAC addresses of its interfaces.'),
  ukiURL: z.string().optional().describe('Where the UKI is.'),
});

/** How one machine boots by UEFI HTTP boot, for the programs of IronCore that read it. */
export const HTTPBootConfig = defineKind({
  group: bootGroup,
  version,
  kind: 'HTTPBootConfig',
  plural: 'httpbootconfigs',
  scope: 'Namespaced',
  description:
    'How one machine boots by UEFI HTTP boot: written by the boot service for other programs to read (--publish-boot-configs).',
  columns: bootConfigColumns,
  fields: { spec: defaulted(spec.describe('What the machine loads.'), {}), status: bootConfigStatus() },
});
export type HTTPBootConfig = ObjectOf<typeof HTTPBootConfig>;
