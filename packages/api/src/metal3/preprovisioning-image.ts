import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { conditions, defaulted } from '../common/fields.ts';
import { metal3Group, metal3Version } from './fields.ts';

const format = () => z.enum(['iso', 'initrd']);

/** Ramdisk for the BareMetalHost of the same name. Another program may build it. */
export const PreprovisioningImage = defineKind({
  group: metal3Group,
  version: metal3Version,
  kind: 'PreprovisioningImage',
  plural: 'preprovisioningimages',
  shortNames: ['ppimg'],
  scope: 'Namespaced',
  description: 'Ramdisk for the BareMetalHost of the same name. Another program may build it.',
  columns: {
    Ready: ".status.conditions[?(@.type=='Ready')].status",
    Reason: ".status.conditions[?(@.type=='Ready')].reason",
  },
  fields: {
    spec: defaulted(
      z
        .object({
          acceptFormats: z.array(format()).optional().describe('Formats that the host can boot; preferred ones first.'),
          architecture: z.string().optional().describe('Architecture, for example x86_64.'),
          networkDataName: z.string().optional().describe('Secret in the same namespace with network data.'),
        })
        .describe('Desired ramdisk.'),
      {},
    ),
    status: z
      .object({
        architecture: z.string().optional().describe('Architecture of the ramdisk.'),
        conditions: conditions(),
        extraKernelParams: z.string().optional().describe('Additional kernel parameters.'),
        format: format().optional().describe('Format of the ramdisk.'),
        imageUrl: z.string().optional().describe('URL of the ISO image or the initrd.'),
        kernelUrl: z.string().optional().describe('URL of the kernel for an initrd.'),
        networkData: z
          .object({
            name: z.string().optional().describe('Name of the Secret.'),
            version: z.string().optional().describe('Resource version of the Secret.'),
          })
          .optional()
          .describe('Secret whose network data is in the ramdisk.'),
      })
      .optional()
      .describe('The ramdisk.'),
  },
});
export type PreprovisioningImage = ObjectOf<typeof PreprovisioningImage>;
