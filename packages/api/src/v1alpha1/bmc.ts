import { exactlyOneOf, immutable } from '@metal/kube/kinds/cel.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import {
  age,
  conditions,
  defaulted,
  group,
  int32,
  int64,
  ipAddress,
  localRef,
  macAddress,
  protocol,
  rejectedLogin,
  time,
  version,
  readyColumns,
} from '../common/fields.ts';

const access = z.object({
  macAddress: macAddress().optional().describe('MAC address of the BMC.'),
  ip: ipAddress().optional().describe('IP address of the BMC.'),
});

const spec = z.object({
  bmcUUID: z.string().optional().describe('Redfish UUID of the manager. Default: read from the BMC.'),
  endpointRef: immutable(localRef(), 'endpointRef')
    .optional()
    .describe('Endpoint with the address. Immutable. Deprecated: use access.'),
  access: immutable(access, 'access').optional().describe('Address of the BMC. Immutable.'),
  bmcSecretRef: localRef().describe('BMCSecret with the credentials.'),
  protocol: protocol().describe('Protocol of the BMC.'),
  consoleProtocol: z
    .object({
      name: z.enum(['IPMI', 'SSH', 'SSHLenovo']).describe('Protocol of the console.'),
      port: int32().describe('TCP or UDP port of the console (UDP for IPMI).'),
    })
    .optional()
    .describe('Access to the serial console.'),
  bmcSettingsRef: localRef().optional().describe('BMCSettings of this BMC. Deprecated.'),
  hostname: z.string().optional().describe('Host name for the DNS record of the BMC.'),
  ssh: z
    .object({
      hostKeyFingerprint: z
        .string()
        .regex(/^(SHA256:)?[A-Za-z0-9+/]{43}=?$/)
        .optional()
        .describe(
          'SHA-256 fingerprint of the SSH host key, as printed by ssh-keygen -l. If set, no other key is trusted.',
        ),
    })
    .optional()
    .describe('SSH access to the BMC. Used to reset a BMC that no longer answers over Redfish.'),
});

/** A requested reset of the BMC. It is in the status because it must survive the process that carries it out. */
const reset = z.object({
  requestedBy: z.enum(['User', 'Automatic']).describe('Origin of the request: User or Automatic.'),
  method: z.enum(['Redfish', 'SSH']).describe('Method of the reset: Redfish or SSH.'),
  since: time().describe('Time of the request.'),
  sentAt: time().optional().describe('Time at which the reset was sent. A reset is never sent twice.'),
  failedAt: time().optional().describe('Time at which the reset failed.'),
  attempts: int32().min(0).describe('Number of resets since the last answer of the BMC.'),
});

const status = z.object({
  macAddress: z
    .string()
    .regex(/^([0-9A-Fa-f]{2}[:-]){5}([0-9A-Fa-f]{2})$/)
    .optional()
    .describe('MAC address in use.'),
  ip: z.string().optional().describe('IP address in use.'),
  manufacturer: z.string().optional().describe('Manufacturer.'),
  model: z.string().optional().describe('Model.'),
  sku: z.string().optional().describe('Part number.'),
  serialNumber: z.string().optional().describe('Serial number.'),
  firmwareVersion: z.string().optional().describe('Firmware version.'),
  state: defaulted(
    z
      .string()
      .describe(
        'State: Pending, Enabled (the BMC answers), Decommissioned (nothing is sent to it) or Error (manual action is required). Default: Pending.',
      ),
    'Pending',
  ).optional(),
  powerState: z.string().optional().describe('Power state of the BMC.'),
  lastResetTime: time().optional().describe('Time of the last reset.'),
  metricsReportSubscriptionLink: z
    .string()
    .optional()
    .describe('URI of the Redfish event subscription for metric reports.'),
  eventsSubscriptionLink: z.string().optional().describe('URI of the Redfish event subscription for events.'),
  reset: reset.optional().describe('Reset in progress, or the last failed reset.'),
  sshHostKeyFingerprint: z
    .string()
    .optional()
    .describe('Fingerprint of the SSH host key of the first connection. Other keys are rejected.'),
  rejectedLogin: rejectedLogin()
    .extend({ generation: int64().describe('metadata.generation of the BMC object.') })
    .optional()
    .describe(
      'Login that the BMC rejected. It is not tried again until the credentials, the address or the spec change.',
    ),
  conditions: conditions(),
});

/** A baseboard management controller and its access parameters. */
export const BMC = defineKind({
  group,
  version,
  kind: 'BMC',
  plural: 'bmcs',
  scope: 'Cluster',
  description: 'Baseboard management controller (BMC): access and observed state.',
  columns: {
    MACAddress: '.status.macAddress',
    IP: '.status.ip',
    Model: '.status.model',
    SKU: { path: '.status.sku', priority: 100 },
    SerialNumber: { path: '.status.serialNumber', priority: 100 },
    FirmwareVersion: { path: '.status.firmwareVersion', priority: 100 },
    State: '.status.state',
    PowerState: '.status.powerState',
    ...age,
    ...readyColumns,
  },
  fields: {
    spec: defaulted(
      exactlyOneOf(spec, ['access', 'endpointRef'], 'exactly one of access or endpointRef needs to be set').describe(
        'Access to the BMC.',
      ),
      { access: {}, bmcSecretRef: { name: '' }, protocol: { name: '', port: 0 } },
    ),
    status: status.optional().describe('Observed state of the BMC.'),
  },
});
export type BMC = ObjectOf<typeof BMC>;
