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
import { erasureModes, settingResets } from '../wire/erasure.ts';

const claimRef = z.object({
  namespace: immutable(z.string().max(63), 'namespace').describe('Namespace of the claim.'),
  name: immutable(z.string().max(253), 'name').describe('Name of the claim.'),
  uid: z
    .string()
    .max(64)
    .optional()
    .describe('UID of the claim: a namesake created later does not inherit the server.'),
  evicted: z
    .boolean()
    .optional()
    .describe('The server was taken from the claim, which may still exist, and is kept for review.'),
});

const spec = z.object({
  systemUUID: z.string().describe('UUID of the system, as SMBIOS and Redfish tell it. Letter case does not matter.'),
  systemURI: z.string().optional().describe('Redfish path of the system.'),
  power: desiredPower()
    .optional()
    .describe('Desired power, computed by the operator; what others write is overwritten. Deprecated.'),
  indicatorLED: desiredLed().optional().describe('Locator light: Lit, Blinking or Off.'),
  reclaimPolicy: defaulted(
    z
      .enum(['Recycle', 'Retain'])
      .describe(
        'When its claim goes. Recycle: cleaned and given back to the pool. Retain: kept until serverClaimRef is cleared.',
      ),
    'Recycle',
  ).optional(),
  serverClaimRef: claimRef
    .optional()
    .describe('Claim that holds the server. Written by the operator; may be cleared, but not turned to another claim.'),
  serverMaintenanceRef: objectRef().optional().describe('Maintenance that has the server.'),
  bmcRef: localRef().optional().describe('BMC the server is managed through; wins over bmc.'),
  bmc: z
    .object({
      protocol: protocol().describe('How the BMC is spoken to.'),
      address: z.string().describe('IP address or host name of the BMC.'),
      bmcSecretRef: localRef().describe('BMCSecret with the credentials.'),
    })
    .optional()
    .describe('BMC of a server that has no BMC object.'),
  bootConfigurationRef: objectRef().optional().describe('Boot configuration in use.'),
  maintenanceBootConfigurationRef: objectRef().optional().describe('Boot configuration of a maintenance.'),
  bootOrder: z
    .array(
      z.object({
        name: z.string().describe('Name for people.'),
        priority: z.int().describe('Lower boots first.'),
        device: z.string().describe('Redfish boot option.'),
      }),
    )
    .optional()
    .describe('Persistent boot order.'),
  biosSettingsRef: localRef().optional().describe('BIOSSettings of this server. Deprecated.'),
  taints: z.array(taint()).optional().describe('Keep claims away that do not tolerate them.'),
  cleanup: z
    .object({
      disks: z
        .enum(erasureModes)
        .optional()
        .describe('What is done to its disks before it is offered again. Left empty: as --cleanup-disks says.'),
      bios: z
        .enum(settingResets)
        .optional()
        .describe('Whether its BIOS gets the settings of the factory. Left empty: as --cleanup-bios says.'),
      bootOrder: z
        .enum(settingResets)
        .optional()
        .describe(
          'Whether its boot order becomes that of spec.bootOrder, or else of status.bootOrder. Left empty: as --cleanup-boot-order says.',
        ),
    })
    .optional()
    .describe('What happens between two claims.'),
  unclaimable: defaulted(z.boolean().describe('True keeps new claims away.'), false).optional(),
});

const processor = z.object({
  id: z.string().describe('Redfish id.'),
  type: z.string().optional().describe('CPU, GPU, ….'),
  architecture: z.string().optional().describe('Such as x86 or ARM.'),
  instructionSet: z.string().optional().describe('Such as x86-64.'),
  manufacturer: z.string().optional().describe('Who made it.'),
  model: z.string().optional().describe('What it is.'),
  maxSpeedMHz: int32().optional().describe('Highest clock.'),
  totalCores: int32().optional().describe('Cores.'),
  totalThreads: int32().optional().describe('Hardware threads.'),
});

const storage = z.object({
  name: z.string().optional().describe('Name of the controller.'),
  state: z.string().optional().describe('Its state.'),
  volumes: z
    .array(
      z.object({
        name: z.string().optional().describe('Name of the volume.'),
        capacity: quantity().optional().describe('Its size.'),
        state: z.string().optional().describe('Its state.'),
        raidType: z.string().optional().describe('Its RAID level.'),
        volumeUsage: z.string().optional().describe('What it is used for.'),
      }),
    )
    .optional()
    .describe('Volumes of the controller.'),
  drives: z
    .array(
      z.object({
        name: z.string().optional().describe('Name of the drive.'),
        mediaType: z.string().optional().describe('SSD, HDD, ….'),
        type: z.string().optional().describe('Form factor.'),
        capacity: quantity().optional().describe('Its size.'),
        vendor: z.string().optional().describe('Who made it.'),
        model: z.string().optional().describe('What it is.'),
        state: z.string().optional().describe('Its state.'),
      }),
    )
    .optional()
    .describe('Drives of the controller.'),
});

const networkInterface = z.object({
  name: z.string().describe('Name the kernel gives it.'),
  macAddress: z.string().describe('Its MAC address; may be empty.'),
  ip: z.string().optional().describe('Deprecated: see ips.'),
  ips: z
    .array(z.string().meta({ format: 'ip' }))
    .optional()
    .describe('Addresses it had when it was seen.'),
  carrierStatus: z.string().optional().describe('up or down.'),
  neighbors: z
    .array(
      z.object({
        macAddress: z.string().optional().describe('Chassis id of the neighbour.'),
        portID: z.string().optional().describe('Its port.'),
        portDescription: z.string().optional().describe('What the port is called.'),
        systemName: z.string().optional().describe('Its name.'),
        systemDescription: z.string().optional().describe('What it is.'),
      }),
    )
    .optional()
    .describe('Neighbours heard by LLDP.'),
});

const status = z.object({
  manufacturer: z.string().optional().describe('Who made it.'),
  model: z.string().optional().describe('What it is.'),
  sku: z.string().optional().describe('Stock number of its maker.'),
  serialNumber: z.string().optional().describe('Serial number.'),
  biosVersion: z.string().optional().describe('Version of its firmware.'),
  totalSystemMemory: quantity().optional().describe('Installed memory.'),
  processors: z.array(processor).optional().describe('Its processors.'),
  storages: z.array(storage).optional().describe('Its storage controllers with what hangs on them.'),
  networkInterfaces: z
    .array(networkInterface)
    .optional()
    .describe('Its network interfaces as the probe saw them; before its first report, as the BMC tells.'),
  bootTargets: z
    .array(z.string())
    .optional()
    .describe('What its BMC can be told to boot from once, in the words of Redfish; left out where it does not say.'),
  powerState: z
    .string()
    .optional()
    .describe('Power state last seen: On, Off, PoweringOn, PoweringOff, Paused or Unknown.'),
  indicatorLED: z.string().optional().describe('Locator light last seen.'),
  bootOrder: z
    .array(z.string())
    .optional()
    .describe('Boot order that its first discovery saw; a cleanup restores it where spec.bootOrder names none.'),
  state: z
    .string()
    .optional()
    .describe('Initial, Discovery, Available, Reserved, Released, Cleanup, Maintenance, Parked or Error.'),
  stateSince: time().optional().describe('When it entered the state.'),
  discoveryAttempts: int32().optional().describe('Discovery attempts since the last success.'),
  provisionedClaimUID: z
    .string()
    .optional()
    .describe('UID of the claim whose image has booted here; later starts are from disk.'),
  pendingBootUID: z
    .string()
    .optional()
    .describe('UID of the boot configuration that was prepared, while the machine was not started since.'),
  servedReprovision: z
    .string()
    .optional()
    .describe('The latest request of the claim to boot its image anew that was taken up.'),
  stoppedClaimUID: z
    .string()
    .optional()
    .describe('UID of the claim whose machine lost power under boot policy safeStop and is kept off.'),
  stateBeforeMaintenance: z.string().optional().describe('State that the maintenance interrupted.'),
  evictionSince: time()
    .optional()
    .describe('Since when a taint evicts the claim; it is released after the grace period.'),
  cleanup: z
    .object({
      neededSince: time()
        .optional()
        .describe('Since when a claim has had it. Stands until it was cleaned up, or that was waived.'),
      formerClaim: formerClaim().optional().describe('Claim that had it last.'),
      queuedSince: time().optional().describe('Since when it waits for its turn.'),
      startedTime: time().optional().describe('When the limits last let it in.'),
      attempt: int32().optional().describe('Attempt that is under way, counted from 1.'),
      poweredOnTime: time()
        .optional()
        .describe('When its machine was switched on for the attempt under way, or seen to be on in it.'),
      failedAttempts: int32().optional().describe('Attempts that failed, since it last began.'),
      withdrawnTime: time()
        .optional()
        .describe(
          'When a claim reference withdrew the order of the attempt; whatever that reports counts for nothing.',
        ),
    })
    .optional()
    .describe('Whether it may hold what a former claim left, and how far its cleanup is.'),
  failure: z
    .object({
      reason: z.string().describe('One word.'),
      message: z.string().describe('What was tried, and what a person can do.'),
    })
    .optional()
    .describe('Why the state is Error.'),
  rejectedLogin: rejectedLogin()
    .optional()
    .describe('The login that the BMC of spec.bmc rejected; it is not tried again.'),
  conditions: conditions(),
});

/** A physical machine. */
export const Server = defineKind({
  group,
  version,
  kind: 'Server',
  plural: 'servers',
  shortNames: ['srv'],
  scope: 'Cluster',
  description: 'A physical server: what it is, whose it is and what state it is in.',
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
    ...readyColumns,
  },
  fields: {
    spec: defaulted(spec.describe('What the server is and what is wanted of it.'), { systemUUID: '' }),
    status: status.optional().describe('What was seen of it.'),
  },
});
export type Server = ObjectOf<typeof Server>;
