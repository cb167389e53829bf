import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { localRef, version } from '../common/fields.ts';
import { bootConfigColumns, bootConfigStatus, bootGroup, commonBootFields } from '../common/boot-config.ts';

const spec = z.object({
  ...commonBootFields(),
  systemIPs: z.array(z.string()).optional().describe('IP addresses of the network interfaces.'),
  kernelURL: z.string().min(1).describe('URL of the kernel.'),
  initrdURL: z.string().min(1).describe('URL of the initrd.'),
  squashfsURL: z.string().optional().describe('URL of the root file system.'),
  ipxeScriptSecretRef: localRef()
    .optional()
    .describe(
      'Secret in the same namespace with a custom iPXE script under the key ipxe-script. It replaces the script of the boot service for the ServerBootConfiguration with the name of this object.',
    ),
  image: z.string().optional().describe('Obsolete. Ignored.'),
  ipxeServerURL: z.string().optional().describe('Obsolete. Ignored.'),
});

/** iPXE boot parameters of one machine, for other programs of IronCore, and an optional custom script. */
export const IPXEBootConfig = defineKind({
  group: bootGroup,
  version,
  kind: 'IPXEBootConfig',
  plural: 'ipxebootconfigs',
  scope: 'Namespaced',
  description:
    'iPXE boot parameters of one machine. Written by the boot service for other programs (--publish-boot-configs), or by an administrator to set a custom script for the ServerBootConfiguration of the same name.',
  columns: bootConfigColumns,
  fields: { spec: spec.optional().describe('Boot parameters.'), status: bootConfigStatus() },
});
export type IPXEBootConfig = ObjectOf<typeof IPXEBootConfig>;
