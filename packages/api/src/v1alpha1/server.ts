import { immutable } from '@metal/kube/kinds/cel.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import {
  age,
  conditions,
  defaulted,
  formerClaim,
  group,
  int32,
  desiredLed,
  localRef,
  objectRef,
  desiredPower,
  protocol,
  quantity,
  rejectedLogin,
  taint,
  time,
  version,
  readyColumns,
} from '../common/fields.ts';
import { maintenanceRecord } from './server-maintenance-record.ts';
import { mainVersionColumns, mainVersions, networkInterface, processor, storage } from './server-hardware.ts';
import { decommission, failure } from './server-records.ts';
import { erasureModes, settingResets } from '../wire/erasure.ts';

const claimRef = z.object({
  namespace: immutable(z.string().max(63), 'namespace').describe('Namespace of the claim.'),
  name: immutable(z.string().max(253), 'name').describe('Name of the claim.'),
  uid: z
    .string()
    .max(64)
    .optional()
    .describe('UID of the claim. A new claim of the same name does not inherit the server.'),
  evicted: z
    .boolean()
    .optional()
    .describe('True if the server was withdrawn from the claim and is kept for review. The claim may still exist.'),
});

const spec = z.object({
  systemUUID: z.string().describe('System UUID, as in SMBIOS and Redfish. Not case-sensitive.'),
  systemURI: z.string().optional().describe('Redfish URI of the ComputerSystem.'),
  power: desiredPower()
    .optional()
    .describe('Desired power state, set by the operator; other values are overwritten. Deprecated.'),
  indicatorLED: desiredLed().optional().describe('Desired state of the locator LED: Lit, Blinking or Off.'),
  reclaimPolicy: defaulted(
    z
      .enum(['Recycle', 'Retain'])
      .describe(
        'Action after the claim is deleted. Recycle: clean up and return to the pool. Retain: keep until serverClaimRef is cleared. Default: Recycle.',
      ),
    'Recycle',
  ).optional(),
  serverClaimRef: claimRef
    .optional()
    .describe('Claim that holds the server. Set by the operator. It can be cleared, but not changed to another claim.'),
  serverMaintenanceRef: objectRef().optional().describe('ServerMaintenance in progress.'),
  bmcRef: localRef().optional().describe('BMC of the server. Takes precedence over bmc.'),
  bmc: z
    .object({
      protocol: protocol().describe('Protocol of the BMC.'),
      address: z.string().describe('IP address or host name of the BMC.'),
      bmcSecretRef: localRef().describe('BMCSecret with the credentials.'),
    })
    .optional()
    .describe('Inline BMC, for a server without a BMC object.'),
  bootConfigurationRef: objectRef().optional().describe('Current ServerBootConfiguration.'),
  maintenanceBootConfigurationRef: objectRef()
    .optional()
    .describe('ServerBootConfiguration of the maintenance in progress.'),
  bootOrder: z
    .array(
      z.object({
        name: z.string().describe('Display name.'),
        priority: z.int().describe('Boot priority. Lower values boot first.'),
        device: z.string().describe('Redfish BootOptionReference.'),
      }),
    )
    .optional()
    .describe('Desired persistent boot order.'),
  biosSettingsRef: localRef().optional().describe('BIOSSettings of this server. Deprecated.'),
  taints: z
    .array(taint())
    .optional()
    .describe('Taints. A claim without a matching toleration is not bound to the server.'),
  cleanup: z
    .object({
      disks: z
        .enum(erasureModes)
        .optional()
        .describe(
          'Erasure of the disks (NIST SP 800-88): None, Metadata, Clear or Purge. Default: operator option --cleanup-disks.',
        ),
      bios: z
        .enum(settingResets)
        .optional()
        .describe('Reset of the BIOS to factory settings: None or Reset. Default: operator option --cleanup-bios.'),
      bootOrder: z
        .enum(settingResets)
        .optional()
        .describe(
          'Reset of the boot order to spec.bootOrder, or else to status.bootOrder: None or Reset. Default: operator option --cleanup-boot-order.',
        ),
    })
    .optional()
    .describe('Cleanup between two claims.'),
  unclaimable: defaulted(
    z.boolean().describe('If true, no new claim is bound to the server. Default: false.'),
    false,
  ).optional(),
});

const status = z.object({
  manufacturer: z.string().optional().describe('Manufacturer.'),
  model: z.string().optional().describe('Model.'),
  sku: z.string().optional().describe('Manufacturer SKU.'),
  serialNumber: z.string().optional().describe('Serial number.'),
  ...mainVersions(),
  totalSystemMemory: quantity().optional().describe('Total installed memory.'),
  processors: z.array(processor).optional().describe('Processors.'),
  storages: z.array(storage).optional().describe('Storage controllers with their volumes and drives.'),
  networkInterfaces: z
    .array(networkInterface)
    .optional()
    .describe('Network interfaces, as reported by the probe; before the first report, by the BMC.'),
  bootTargets: z
    .array(z.string())
    .optional()
    .describe(
      'Targets for a one-time boot that the BMC supports (Redfish BootSourceOverrideTarget). Empty if the BMC does not list them.',
    ),
  powerState: z
    .string()
    .optional()
    .describe('Last observed power state: On, Off, PoweringOn, PoweringOff, Paused or Unknown.'),
  indicatorLED: z.string().optional().describe('Last observed state of the locator LED.'),
  bootOrder: z
    .array(z.string())
    .optional()
    .describe('Boot order at the first discovery. A cleanup restores it if spec.bootOrder is empty.'),
  state: z
    .string()
    .optional()
    .describe(
      'State: Initial, Discovery, Available, Reserved, Released, Cleanup, Maintenance, Parked, Decommissioning, Decommissioned or Error.',
    ),
  stateSince: time().optional().describe('Time of entry into the state.'),
  discoveryAttempts: int32().optional().describe('Number of discovery attempts since the last success.'),
  provisionedClaimUID: z
    .string()
    .optional()
    .describe('UID of the claim whose image was booted. Later starts are from disk.'),
  pendingBootUID: z
    .string()
    .optional()
    .describe('UID of the prepared ServerBootConfiguration, until the machine is started.'),
  servedReprovision: z.string().optional().describe('Last reprovision request of the claim that was processed.'),
  stoppedClaimUID: z
    .string()
    .optional()
    .describe('UID of the claim whose machine lost power under boot policy safeStop. The machine stays off.'),
  stateBeforeMaintenance: z.string().optional().describe('State before the maintenance.'),
  maintenance: maintenanceRecord.optional(),
  claim: z
    .string()
    .optional()
    .describe('Namespace and name of the claim in spec.serverClaimRef, separated by a slash, for the column Claim.'),
  evictionSince: time()
    .optional()
    .describe(
      'Time at which a taint or a forced decommission started to evict the claim. The server is released after the grace period.',
    ),
  cleanup: z
    .object({
      neededSince: time()
        .optional()
        .describe('Time since which the server needs a cleanup. Cleared by a successful cleanup or a waiver.'),
      formerClaim: formerClaim().optional().describe('Last claim that held the server.'),
      queuedSince: time().optional().describe('Time at which the cleanup was queued.'),
      startedTime: time().optional().describe('Time at which the cleanup was last admitted.'),
      attempt: int32().optional().describe('Number of the attempt in progress, from 1.'),
      poweredOnTime: time()
        .optional()
        .describe('Time at which the machine was powered on, or first observed to be on, in the attempt in progress.'),
      failedAttempts: int32().optional().describe('Number of failed attempts in this cleanup.'),
      withdrawnTime: time()
        .optional()
        .describe(
          'Time at which the erasure order of the attempt was withdrawn because of a claim reference. Reports of this attempt are ignored.',
        ),
    })
    .optional()
    .describe('Need for a cleanup, and its progress.'),
  decommission: decommission.optional().describe('Decommission in progress or completed.'),
  history: z
    .array(
      z.object({
        time: time().describe('Time of the change.'),
        state: z.string().describe('State of the server.'),
        reason: z.string().optional().describe('Reason of the condition Ready.'),
        power: z.string().optional().describe('Observed power state.'),
      }),
    )
    .optional()
    .describe('Last ten changes of state, reason or power state, oldest first. Shorter waits are left out.'),
  failure: failure.optional().describe('Cause of state Error.'),
  rejectedLogin: rejectedLogin()
    .optional()
    .describe(
      'Login that the BMC of spec.bmc rejected. It is not tried again until the credentials or the address change.',
    ),
  conditions: conditions(),
});

/** A physical server. */
export const Server = defineKind({
  group,
  version,
  kind: 'Server',
  plural: 'servers',
  shortNames: ['srv'],
  scope: 'Cluster',
  description: 'Physical server: hardware, claim and lifecycle state.',
  columns: {
    SystemUUID: '.spec.systemUUID',
    Manufacturer: '.status.manufacturer',
    Model: '.status.model',
    Memory: '.status.totalSystemMemory',
    SKU: { path: '.status.sku', priority: 100 },
    SerialNumber: { path: '.status.serialNumber', priority: 100 },
    PowerState: '.status.powerState',
    IndicatorLED: { path: '.status.indicatorLED', priority: 100 },
    State: '.status.state',
    Unclaimable: { path: '.spec.unclaimable', type: 'boolean', priority: 100 },
    ...age,
    Reason: readyColumns.Reason,
    Claim: '.status.claim',
    Message: readyColumns.Message,
    ...mainVersionColumns,
  },
  fields: {
    spec: defaulted(spec.describe('Identity and desired state of the server.'), { systemUUID: '' }),
    status: status.optional().describe('Observed state of the server.'),
  },
});
export type Server = ObjectOf<typeof Server>;
