import { defineKind } from '@metal/kube/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kind.ts';
import * as z from 'zod';
import { age, group, localRef, time, version } from '../common/fields.ts';

const text = () => z.string().optional();
const whole = () => z.number().meta({ type: 'integer', format: 'int64' }).optional();
const texts = () => z.array(z.string()).optional();

const report = z.object({
  timestamp: text().describe('When the probe looked, by its own clock.'),
  systemInfo: z
    .object({
      biosInformation: z.object({ vendor: text(), version: text(), date: text() }).optional(),
      systemInformation: z
        .object({
          manufacturer: text(),
          productName: text(),
          version: text(),
          serialNumber: text(),
          uuid: text(),
          skuNumber: text(),
          family: text(),
        })
        .optional(),
      boardInformation: z
        .object({ manufacturer: text(), product: text(), version: text(), serialNumber: text(), assetTag: text() })
        .optional(),
    })
    .optional()
    .describe('SMBIOS types 0 to 2.'),
  cpu: z
    .array(
      z.object({
        id: z.number().meta({ type: 'integer' }),
        totalCores: whole(),
        totalHardwareThreads: whole(),
        vendor: text(),
        model: text(),
        capabilities: texts(),
      }),
    )
    .optional()
    .describe('Processors.'),
  networkInterfaces: z
    .array(
      z.object({
        name: z.string(),
        ipAddress: text(),
        ipAddresses: texts(),
        macAddress: z.string(),
        carrierStatus: text(),
      }),
    )
    .optional()
    .describe('Network interfaces.'),
  lldp: z
    .array(
      z.object({
        name: z.string(),
        neighbors: z
          .array(
            z.object({
              chassisId: text(),
              portId: text(),
              portDescription: text(),
              systemName: text(),
              systemDescription: text(),
              mgmtIp: text(),
              capabilities: texts(),
              vlanId: text(),
            }),
          )
          .optional(),
      }),
    )
    .optional()
    .describe('LLDP neighbours.'),
  storage: z
    .array(
      z.object({
        path: text(),
        name: z.string(),
        rotational: z.boolean().optional(),
        removable: z.boolean().optional(),
        readOnly: z.boolean().optional(),
        vendor: text(),
        model: text(),
        serial: text(),
        wwid: text(),
        physicalBlockSize: whole(),
        logicalBlockSize: whole(),
        hWSectorSize: whole(),
        sizeBytes: whole(),
        numaNodeID: whole(),
      }),
    )
    .optional()
    .describe('Disks.'),
  memory: z
    .array(
      z.object({
        size: whole(),
        deviceSet: text(),
        deviceLocator: text(),
        bankLocator: text(),
        memoryType: text(),
        speed: text(),
        vendor: text(),
        serialNumber: text(),
        assetTag: text(),
        partNumber: text(),
        configuredMemorySpeed: text(),
        minimumVoltage: text(),
        maximumVoltage: text(),
        configuredVoltage: text(),
      }),
    )
    .optional()
    .describe('Memory modules.'),
  nics: z
    .array(
      z.object({
        name: z.string(),
        mac: text(),
        pciAddress: text(),
        speed: text(),
        linkModes: texts(),
        supportedPorts: texts(),
        firmwareVersion: text(),
      }),
    )
    .optional()
    .describe('Network hardware.'),
  pciDevices: z
    .array(
      z.object({
        address: text(),
        vendor: text(),
        vendorID: text(),
        product: text(),
        productID: text(),
        numaNodeID: whole(),
      }),
    )
    .optional()
    .describe('PCI devices.'),
});

const spec = z.object({
  serverRef: localRef().describe('Server the report is about.'),
  systemUUID: z.string().describe('UUID the probe reported under, in lower case.'),
  bootConfigurationUID: z
    .string()
    .optional()
    .describe('UID of the ServerBootConfiguration whose boot made the report.'),
  receivedTime: time().describe('When the report arrived, by the clock of the registry.'),
  reportDigest: z.string().describe('SHA-256 of the body of the report, in hex.'),
  report: report.describe('The report.'),
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
