import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, conditions, defaulted, group, int32, localRef, time, version, readyColumns } from '../common/fields.ts';

export const bootConfigurationSpec = () =>
  z.object({
    serverRef: localRef().describe('Server that boots.'),
    image: z.string().optional().describe('Image it boots.'),
    ignitionSecretRef: localRef()
      .optional()
      .describe('Secret in the same namespace with the first-boot configuration: keys format and ignition.'),
  });

const bootStep = z.object({
  name: z
    .string()
    .describe('What the machine did: dhcp, script, kernel, initrd, squashfs, uki, ignition, probe or booted.'),
  time: time().describe('When it last did so.'),
  firstTime: time().optional().describe('When it first did so.'),
  count: int32().optional().describe('How often it did so.'),
  detail: z.string().optional().describe('What it asked for, and from where.'),
});

const boot = z.object({
  image: z.string().optional().describe('Image that was prepared.'),
  digest: z
    .string()
    .optional()
    .describe('Digest of its manifest, where it is one of a registry: this is what is booted.'),
  method: z.string().optional().describe('How it boots: iPXE or UefiHttp.'),
  script: z
    .string()
    .optional()
    .describe('Secret with the iPXE script that a person wrote for it; left out, the boot service writes the script.'),
  methods: z
    .array(z.string())
    .optional()
    .describe('All ways that image and server allow, the chosen one first; left out where there is one.'),
  steps: z.array(bootStep).optional().describe('The steps seen so far, in order.'),
});

const status = z.object({
  boot: boot.optional().describe('The trace of the boot.'),
  state: z.string().optional().describe('Pending, Ready once a boot service has prepared it, or Error.'),
  conditions: conditions(),
});

/** One boot of one server: what it boots, whether that is prepared, and how far it got. */
export const ServerBootConfiguration = defineKind({
  group,
  version,
  kind: 'ServerBootConfiguration',
  plural: 'serverbootconfigurations',
  shortNames: ['sbc'],
  scope: 'Namespaced',
  description: 'What a server boots. A boot service prepares it and says Ready; only then is the server powered on.',
  columns: {
    ServerRef: '.spec.serverRef.name',
    Image: '.spec.image',
    IgnitionRef: '.spec.ignitionSecretRef.name',
    State: '.status.state',
    ...age,
    ...readyColumns,
  },
  fields: {
    spec: defaulted(bootConfigurationSpec().describe('What is booted.'), { serverRef: { name: '' } }),
    status: status.optional().describe('How far it is.'),
  },
});
export type ServerBootConfiguration = ObjectOf<typeof ServerBootConfiguration>;
