import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, group, int32, localRef, time, version } from '../common/fields.ts';
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

const component = z.object({
  id: z.string().describe('Id of the member of FirmwareInventory.'),
  name: z.string().optional().describe('Name.'),
  version: z.string().optional().describe('Version.'),
  manufacturer: z.string().optional().describe('Manufacturer.'),
  updateable: z.boolean().optional().describe('The BMC can update it. Absent if the BMC does not tell.'),
  staged: z.boolean().optional().describe('True: written, and active after a restart.'),
});

const firmware = z.object({
  readTime: time().describe('Time at which it was read from the BMC.'),
  biosVersion: z.string().optional().describe('BIOS version at that time.'),
  bmcVersion: z.string().optional().describe('Firmware version of the BMC at that time.'),
  components: z.array(component).describe('Members of FirmwareInventory of the BMC, by Id.'),
  omitted: int32().optional().describe('Number of members that are not listed: unreadable, or beyond the limits.'),
});

const bios = z.object({
  registry: z.string().optional().describe('Name of the BIOSAttributeRegistry that defines the attributes.'),
  attributes: z
    .record(z.string(), z.string())
    .meta({ 'x-kubernetes-map-type': 'atomic' })
    .describe('Current values by name, without passwords and hidden attributes.'),
  omitted: int32().optional().describe('Number of attributes that are not listed: too long, or beyond the limits.'),
});

const status = z.object({
  firmware: firmware.optional().describe('Installed firmware.'),
  bios: bios.optional().describe('BIOS attributes, read together with the firmware.'),
});

/** Hardware inventory that the probe reported. One per Server, of the same name. */
export const ServerInventory = defineKind({
  group,
  version,
  kind: 'ServerInventory',
  plural: 'serverinventories',
  shortNames: ['srvinv'],
  scope: 'Cluster',
  description:
    'Hardware inventory of a server: the report of the probe, and firmware and BIOS attributes from the BMC.',
  columns: {
    Server: '.spec.serverRef.name',
    Received: { path: '.spec.receivedTime', type: 'date' },
    ...age,
    BIOS: { path: '.status.firmware.biosVersion', priority: 100 },
    BMC: { path: '.status.firmware.bmcVersion', priority: 100 },
    FirmwareRead: { path: '.status.firmware.readTime', type: 'date', priority: 100 },
  },
  fields: {
    spec: spec.describe('Last report.'),
    status: status.optional().describe('Firmware and BIOS attributes, as the BMC reports them.'),
  },
});
export type ServerInventory = ObjectOf<typeof ServerInventory>;
