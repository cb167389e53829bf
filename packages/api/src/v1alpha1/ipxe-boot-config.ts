import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { localRef, version } from '../common/fields.ts';
import { bootConfigColumns, bootConfigStatus, bootGroup, commonBootFields } from '../common/boot-config.ts';

const spec = z.object({
  ...commonBootFields(),
  systemIPs: z.array(z.string()).optional().describe('Addresses of its interfaces.'),
  kernelURL: z.string().min(1).describe('Where the kernel is.'),
  initrdURL: z.string().min(1).describe('Where the initrd is.'),
  squashfsURL: z.string().optional().describe('Where the root file system is.'),
  ipxeScriptSecretRef: localRef()
    .optional()
    .describe(
      'Secret in the same namespace whose key ipxe-script is served instead of the script of the boot service, to the machine whose ServerBootConfiguration has the name of this object.',
    ),
  image: z.string().optional().describe('Former field; nothing reads it.'),
  ipxeServerURL: z.string().optional().describe('Former field; nothing reads it.'),
});

/** How one machine boots by iPXE, for the programs of IronCore that read it; and a script of one's own for it. */
export const IPXEBootConfig = defineKind({
  group: bootGroup,
  version,
  kind: 'IPXEBootConfig',
  plural: 'ipxebootconfigs',
  scope: 'Namespaced',
  description:
    'How one machine boots by iPXE: written by the boot service for other programs to read (--publish-boot-configs), or by a person who gives the boot of the same name a script of their own.',
  columns: bootConfigColumns,
  fields: { spec: spec.optional().describe('What the machine loads.'), status: bootConfigStatus() },
});
export type IPXEBootConfig = ObjectOf<typeof IPXEBootConfig>;
