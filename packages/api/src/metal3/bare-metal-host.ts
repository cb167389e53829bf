import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, defaulted, time } from '../common/fields.ts';
import { bareMetalHostStatus, bootModes, firmware } from './bare-metal-host-status.ts';
import {
  consumerReference,
  customDeploy,
  image,
  looseMacAddress,
  metal3Group,
  metal3Version,
  rootDeviceHints,
  secretReference,
  strictMacAddress,
} from './fields.ts';
import { raid } from './raid.ts';

const networkInterface = () =>
  z.object({
    hostNetworkAttachment: z
      .object({
        name: z.string().max(253).optional().describe('Name of the HostNetworkAttachment.'),
        namespace: z.string().max(63).optional().describe('Namespace. Default: that of the host.'),
      })
      .optional()
      .describe('Network that the interface should be attached to.'),
    macAddress: strictMacAddress()
      .optional()
      .describe('MAC address of the interface. Exactly one of name and macAddress.'),
    name: z
      .string()
      .regex(/^[a-zA-Z0-9._-]+$/)
      .optional()
      .describe('Name of the interface. Exactly one of name and macAddress.'),
    switchPort: z
      .object({
        portID: z.string().describe('Port of the switch.'),
        switchID: strictMacAddress().describe('MAC address of the switch.'),
      })
      .optional()
      .describe('Switch port. Default: by LLDP.'),
  });

const taint = () =>
  z.object({
    effect: z.string().describe('Effect.'),
    key: z.string().describe('Key.'),
    timeAdded: time().optional().describe('Time at which it was added.'),
    value: z.string().optional().describe('Value.'),
  });

const bmc = () =>
  z.object({
    address: z.string().describe('Address, for example redfish-virtualmedia://192.0.2.7/redfish/v1/Systems/1.'),
    credentialsName: z.string().describe('Secret in the same namespace with username and password.'),
    disableCertificateVerification: z.boolean().optional().describe('Skips verification of the certificate.'),
  });

const spec = z.object({
  architecture: z.string().optional().describe('Architecture, for example x86_64. Default: found by the inspection.'),
  automatedCleaningMode: defaulted(
    z
      .enum(['metadata', 'disabled'])
      .describe('Cleaning after a deprovisioning. metadata: partition tables are erased. disabled: none.'),
    'metadata',
  ),
  bmc: bmc().optional().describe('Access to the BMC. Without it the host is unmanaged.'),
  bootMACAddress: looseMacAddress()
    .optional()
    .describe('MAC address of the interface that the machine boots from. Kept once set.'),
  bootMode: z.enum(bootModes).optional().describe('Boot mode. Default: UEFI.'),
  consumerRef: consumerReference().optional().describe('Object that uses the host.'),
  customDeploy: customDeploy().optional().describe('Deployment by a ramdisk of your own.'),
  description: z.string().optional().describe('Text for people.'),
  disablePowerOff: z.boolean().optional().describe('The host is restarted instead of powered off.'),
  externallyProvisioned: z
    .boolean()
    .optional()
    .describe('An operating system is installed already; only the power is managed.'),
  firmware: firmware().optional().describe('Deprecated and rejected: use HostFirmwareSettings.'),
  hardwareProfile: z.string().optional().describe('Deprecated: use rootDeviceHints.'),
  image: image().optional().describe('Image to deploy.'),
  inspectionMode: z
    .enum(['disabled', 'agent', 'fast'])
    .optional()
    .describe('agent: by a ramdisk. fast: by the BMC alone. disabled: none. Default: agent.'),
  metaData: secretReference().optional().describe('Secret with meta data of the config drive.'),
  networkData: secretReference().optional().describe('Secret with network data of the config drive.'),
  networkInterfaces: z.array(networkInterface()).optional().describe('Network interfaces. Only validated.'),
  online: z.boolean().describe('Desired power. An image is deployed only while this is true.'),
  preprovisioningNetworkDataName: z
    .string()
    .optional()
    .describe('Secret in the same namespace with network data for the ramdisk, and the default of networkData.'),
  raid: raid().optional().describe('RAID volumes.'),
  rootDeviceHints: rootDeviceHints().optional().describe('Disk that the image is written to. All hints must match.'),
  taints: z.array(taint()).optional().describe('Deprecated, without effect.'),
  userData: secretReference().optional().describe('Secret with user data of the config drive.'),
});

/** A machine with a BMC, in the API of Metal3. */
export const BareMetalHost = defineKind({
  group: metal3Group,
  version: metal3Version,
  kind: 'BareMetalHost',
  plural: 'baremetalhosts',
  shortNames: ['bmh', 'bmhost'],
  scope: 'Namespaced',
  description: 'Machine with a BMC: desired power and image, and observed state.',
  // clusterctl moves the hosts to another cluster, with the objects that they own.
  labels: { 'clusterctl.cluster.x-k8s.io': '', 'clusterctl.cluster.x-k8s.io/move-hierarchy': '' },
  columns: {
    Status: { path: '.status.operationalStatus', priority: 1 },
    State: '.status.provisioning.state',
    Consumer: '.spec.consumerRef.name',
    BMC: { path: '.spec.bmc.address', priority: 1 },
    Online: '.spec.online',
    Error: '.status.errorType',
    ...age,
  },
  fields: {
    spec: defaulted(spec.describe('Desired state.'), { online: false, automatedCleaningMode: 'metadata' }),
    status: bareMetalHostStatus().optional().describe('Observed state.'),
  },
});
export type BareMetalHost = ObjectOf<typeof BareMetalHost>;
