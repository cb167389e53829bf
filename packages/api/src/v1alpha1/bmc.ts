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
  bmcUUID: z.string().optional().describe('Redfish UUID of the manager; found out when empty.'),
  endpointRef: immutable(localRef(), 'endpointRef')
    .optional()
    .describe('Endpoint that carries the address. Deprecated: use access.'),
  access: immutable(access, 'access').optional().describe('Address of the BMC.'),
  bmcSecretRef: localRef().describe('BMCSecret with the credentials.'),
  protocol: protocol().describe('How the BMC is spoken to.'),
  consoleProtocol: z
    .object({
      name: z.enum(['IPMI', 'SSH', 'SSHLenovo']).describe('Protocol of the console.'),
      port: int32().describe('TCP or UDP port of the console.'),
    })
    .optional()
    .describe('How the serial console is reached.'),
  bmcSettingsRef: localRef().optional().describe('BMCSettings of this BMC. Deprecated.'),
  hostname: z.string().optional().describe('Name for the DNS record of the BMC.'),
  ssh: z
    .object({
      hostKeyFingerprint: z
        .string()
        .regex(/^(SHA256:)?[A-Za-z0-9+/]{43}=?$/)
        .optional()
        .describe('SHA-256 fingerprint of the SSH host key, as ssh-keygen -l prints it; it alone is trusted then.'),
    })
    .optional()
    .describe('How the shell of the BMC is reached, which is used to restart a BMC that no longer answers otherwise.'),
});

/** A restart of the BMC that was asked for: what is known of it has to survive the process that carries it out. */
const reset = z.object({
  requestedBy: z.enum(['User', 'Automatic']).describe('Who wants it.'),
  method: z.enum(['Redfish', 'SSH']).describe('How it is done.'),
  since: time().describe('When it was asked for.'),
  sentAt: time().optional().describe('When it was sent; a reset is never sent a second time.'),
  failedAt: time().optional().describe('When it turned out that it could not be carried out.'),
  attempts: int32().min(0).describe('Resets since the BMC last answered.'),
});

const status = z.object({
  macAddress: z
    .string()
    .regex(/^([0-9A-Fa-f]{2}[:-]){5}([0-9A-Fa-f]{2})$/)
    .optional()
    .describe('MAC address in use.'),
  ip: z.string().optional().describe('IP address in use.'),
  manufacturer: z.string().optional().describe('Who made it.'),
  model: z.string().optional().describe('What it is.'),
  sku: z.string().optional().describe('Part number.'),
  serialNumber: z.string().optional().describe('Serial number.'),
  firmwareVersion: z.string().optional().describe('Version of its firmware.'),
  state: defaulted(
    z.string().describe('Pending, Enabled while it answers, or Error when only a person can help.'),
    'Pending',
  ).optional(),
  powerState: z.string().optional().describe('Power state of the management controller.'),
  lastResetTime: time().optional().describe('When it was last reset.'),
  metricsReportSubscriptionLink: z.string().optional().describe('Redfish subscription for metric reports.'),
  eventsSubscriptionLink: z.string().optional().describe('Redfish subscription for events.'),
  reset: reset.optional().describe('The reset that is under way, or the one that failed last.'),
  sshHostKeyFingerprint: z
    .string()
    .optional()
    .describe('SSH host key that was seen first; another one is refused from then on.'),
  rejectedLogin: rejectedLogin()
    .extend({ generation: int64().describe('Generation of the BMC object.') })
    .optional()
    .describe('The login that the BMC rejected; it is not tried again.'),
  conditions: conditions(),
});

/** A management controller and how it is reached. */
export const BMC = defineKind({
  group,
  version,
  kind: 'BMC',
  plural: 'bmcs',
  scope: 'Cluster',
  description: 'A baseboard management controller: how it is reached and what was seen of it.',
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
        'How the BMC is reached.',
      ),
      { access: {}, bmcSecretRef: { name: '' }, protocol: { name: '', port: 0 } },
    ),
    status: status.optional().describe('What was seen of the BMC.'),
  },
});
export type BMC = ObjectOf<typeof BMC>;
