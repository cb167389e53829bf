import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { deploymentStatus, diskImage, preparedDiskImage } from '../common/disk-image.ts';
import { age, conditions, defaulted, group, int32, localRef, time, version, readyColumns } from '../common/fields.ts';

export const bootConfigurationSpec = () =>
  z.object({
    serverRef: localRef().describe('Server to boot.'),
    image: z.string().optional().describe('Image to boot.'),
    ignitionSecretRef: localRef()
      .optional()
      .describe('Secret in the same namespace with the first-boot configuration, under the keys format and ignition.'),
  });

const spec = () => bootConfigurationSpec().extend({ diskImage: diskImage().optional() });

const bootStep = z.object({
  name: z.string().describe('Boot step: dhcp, script, kernel, initrd, squashfs, uki, ignition, probe or booted.'),
  time: time().describe('Time of the last occurrence.'),
  firstTime: time().optional().describe('Time of the first occurrence.'),
  count: int32().optional().describe('Number of occurrences.'),
  detail: z.string().optional().describe('Requested resource and client address.'),
});

const boot = z.object({
  image: z.string().optional().describe('Image that the boot service prepared.'),
  digest: z
    .string()
    .optional()
    .describe('Digest of the image manifest, for an image in an OCI registry. The machine boots exactly this digest.'),
  method: z.string().optional().describe('Boot method: iPXE or UefiHttp.'),
  script: z
    .string()
    .optional()
    .describe('Secret with a custom iPXE script. Empty: the boot service generates the script.'),
  methods: z
    .array(z.string())
    .optional()
    .describe(
      'Boot methods that the image and the server support, the selected one first. Empty if there is only one.',
    ),
  steps: z.array(bootStep).optional().describe('Boot steps observed so far, in order.'),
});

const status = z.object({
  boot: boot.optional().describe('Progress of the boot.'),
  diskImage: preparedDiskImage().optional(),
  deployment: deploymentStatus().optional(),
  state: z.string().optional().describe('State: Pending, Ready (prepared by a boot service) or Error.'),
  conditions: conditions(),
});

/** One boot of one server: image, preparation and progress. */
export const ServerBootConfiguration = defineKind({
  group,
  version,
  kind: 'ServerBootConfiguration',
  plural: 'serverbootconfigurations',
  shortNames: ['sbc'],
  scope: 'Namespaced',
  description:
    'Boot configuration of a server. A boot service prepares it and sets it to Ready; the server is powered on only after that.',
  columns: {
    ServerRef: '.spec.serverRef.name',
    Image: '.spec.image',
    IgnitionRef: '.spec.ignitionSecretRef.name',
    State: '.status.state',
    ...age,
    ...readyColumns,
  },
  fields: {
    spec: defaulted(spec().describe('Desired boot.'), { serverRef: { name: '' } }),
    status: status.optional().describe('Observed state.'),
  },
});
export type ServerBootConfiguration = ObjectOf<typeof ServerBootConfiguration>;
