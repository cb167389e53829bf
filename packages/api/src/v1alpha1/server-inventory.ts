import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, group, localRef, time, version } from '../common/fields.ts';
import { probeReport } from '../wire/probe-report.ts';

const spec = z.object({
  serverRef: localRef().describe('Server that the report describes.'),
  systemUUID: z.string().describe('System UUID in the report, in lower case.'),
  bootConfigurationUID: z
    .string()
    .optional()
    .describe('UID of the ServerBootConfiguration of the boot that sent the report.'),
  receivedTime: time().describe('Time at which the report arrived, by the clock of the registry.'),
  reportDigest: z.string().describe('SHA-256 of the report body, in hex.'),
  report: probeReport.describe('Report of the probe.'),
});

/** Hardware inventory that the probe reported. One per Server, of the same name. */
export const ServerInventory = defineKind({
  group,
  version,
  kind: 'ServerInventory',
  plural: 'serverinventories',
  shortNames: ['srvinv'],
  scope: 'Cluster',
  description: 'Hardware inventory of a server, reported by the probe: processors, memory, disks, network, PCI, LLDP.',
  columns: { Server: '.spec.serverRef.name', Received: { path: '.spec.receivedTime', type: 'date' }, ...age },
  fields: { spec: spec.describe('Last report.'), status: z.object({}).optional().describe('Unused.') },
});
export type ServerInventory = ObjectOf<typeof ServerInventory>;
