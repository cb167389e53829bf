import { hinted } from '@metal/kube/kinds/cel.ts';
import * as z from 'zod';
import { conditions, defaulted, time } from '../common/fields.ts';
import { customDeploy, image, rootDeviceHints, secretReference, timeSpan } from './fields.ts';
import { hardwareDetails } from './hardware-details.ts';
import { raid } from './raid.ts';

/** In the order of a host's life. The empty one is a host that was never reconciled. */
export const provisioningStates = [
  '',
  'unmanaged',
  'registering',
  'match profile',
  'inspecting',
  'preparing',
  'ready',
  'available',
  'provisioning',
  'provisioned',
  'externally provisioned',
  'deprovisioning',
  'powering off before delete',
  'deleting',
] as const;
export type ProvisioningState = (typeof provisioningStates)[number];

export const operationalStatuses = ['', 'OK', 'discovered', 'error', 'delayed', 'detached', 'servicing'] as const;

export const errorTypes = [
  'provisioned registration error',
  'registration error',
  'inspection error',
  'preparation error',
  'provisioning error',
  'power management error',
  'servicing error',
  // In addition to Metal3, which sets this value too: its API server rejected the status then.
  'detach error',
] as const;
export type ErrorType = (typeof errorTypes)[number];

export const bootModes = ['UEFI', 'UEFISecureBoot', 'legacy'] as const;
export type BootMode = (typeof bootModes)[number];

const flag = () => z.boolean().meta({ enum: [true, false] });

/** Deprecated: admission rejects it in a spec. */
export const firmware = () =>
  z.object({
    simultaneousMultithreadingEnabled: flag().optional().describe('Several threads per core.'),
    sriovEnabled: flag().optional().describe('SR-IOV.'),
    virtualizationEnabled: flag().optional().describe('Virtualization extensions.'),
  });

const credentials = () =>
  z.object({
    credentials: secretReference().optional().describe('Secret with the credentials.'),
    credentialsVersion: z.string().optional().describe('Resource version of the Secret.'),
  });

const provisioning = () =>
  z.object({
    // Text, as in Metal3: an older host may be in a state that no longer exists.
    state: z.string().describe('State of the host.'),
    ID: z.string().describe('UUID of the node in Ironic. Empty before the registration.'),
    bootMode: z.enum(bootModes).optional().describe('Boot mode in use.'),
    customDeploy: customDeploy().optional().describe('Method that the host was deployed with.'),
    firmware: firmware().optional().describe('Not used.'),
    image: image()
      .optional()
      .describe('Image that the host was deployed with. Nothing is deployed if its url is empty.'),
    raid: raid().optional().describe('RAID that was configured.'),
    rootDeviceHints: rootDeviceHints().optional().describe('Root device hints in use.'),
  });

const operations = {
  register: 'Registration.',
  inspect: 'Inspection.',
  provision: 'Provisioning.',
  deprovision: 'Deprovisioning.',
} as const;
const span = (operation: keyof typeof operations) => timeSpan().optional().describe(operations[operation]);

export const bareMetalHostStatus = () =>
  z.object({
    conditions: hinted(conditions(), { maxItems: 32 }),
    errorCount: defaulted(z.int().describe('Failures since the last success.'), 0),
    errorMessage: z.string().describe('Message of the last failure. Empty without one.'),
    errorType: z.enum(errorTypes).optional().describe('Type of the last failure. Absent without one.'),
    goodCredentials: credentials().optional().describe('Last credentials that the BMC accepted.'),
    hardware: hardwareDetails().optional().describe('Result of the inspection. See also HardwareData.'),
    hardwareProfile: z.string().optional().describe('Hardware profile. Deprecated.'),
    lastAttemptedImage: image().optional().describe('Image of the last attempt to provision the host.'),
    lastUpdated: time().optional().describe('Time of the last change of the status.'),
    operationHistory: z
      .object({
        deprovision: span('deprovision'),
        inspect: span('inspect'),
        provision: span('provision'),
        register: span('register'),
      })
      .optional()
      .describe('Times of the last operations.'),
    operationalStatus: z.enum(operationalStatuses).describe('Whether the host works, and if not, the reason.'),
    poweredOn: z.boolean().describe('Last observed power.'),
    provisioning: provisioning().describe('Progress of the provisioning.'),
    provisioningFailCount: defaulted(
      z.int().describe('Failed attempts to provision the host, which a deprovisioning does not reset.'),
      0,
    ),
    triedCredentials: credentials().optional().describe('Last credentials that were sent to the BMC.'),
  });
export type BareMetalHostStatus = z.output<ReturnType<typeof bareMetalHostStatus>>;
