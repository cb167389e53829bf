import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, group, localRef, time, version } from '../common/fields.ts';
import { probeReport } from '../wire/probe-report.ts';

const spec = z.object({
  serverRef: localRef().describe('Server the report is about.'),
  systemUUID: z.string().describe('UUID the probe reported under, in lower case.'),
  bootConfigurationUID: z
    .string()
    .optional()
    .describe('UID of the ServerBootConfiguration whose boot made the report.'),
  receivedTime: time().describe('When the report arrived, by the clock of the registry.'),
  reportDigest: z.string().describe('SHA-256 of the body of the report, in hex.'),
  report: probeReport.describe('What the probe found.'),
});

/** Everything a probe saw of a machine from inside. One per Server, of the same name. */
export const ServerInventory = defineKind({
  group,
  version,
  kind: 'ServerInventory',
  plural: 'serverinventories',
  shortNames: ['srvinv'],
  scope: 'Cluster',
  description: 'What the probe saw of a server from inside: processors, memory, disks, network, PCI, LLDP.',
  columns: { Server: '.spec.serverRef.name', Received: { path: '.spec.receivedTime', type: 'date' }, ...age },
  fields: { spec: spec.describe('The last report.'), status: z.object({}).optional().describe('Nothing yet.') },
});
export type ServerInventory = ObjectOf<typeof ServerInventory>;
