import { apiDefault } from '@metal/kube/cel.ts';
import * as z from 'zod';
import { indicatorLed } from '../common/indicator-led.ts';
import { power } from '../common/power.ts';
import { protocol } from '../common/protocol.ts';
import { fixedObjectRef, localRef, objectRef } from '../common/references.ts';
import { taint } from '../common/taint.ts';

const inlineBmc = z.object({
  protocol: protocol.describe('How the BMC is talked to.'),
  address: z.string().describe('IP address or host name of the BMC.'),
  bmcSecretRef: localRef.describe('BMCSecret with user name and password.'),
});

const bootDevice = z.object({
  name: z.string().describe('A name for people.'),
  priority: z.int().describe('The device with the lowest number is tried first.'),
  device: z.string().describe('Boot option, as the firmware names it.'),
});

const claimRef = fixedObjectRef.extend({
  uid: z
    .string()
    .optional()
    .describe(
      'UID of the claim. A claim of the same name that is made later has another one and does not inherit the server.',
    ),
});

export const serverSpec = z.object({
  systemUUID: z
    .string()
    .describe('UUID of the machine, as Redfish and SMBIOS report it. Compared without regard to letter case.'),
  systemURI: z
    .string()
    .optional()
    .describe('Address of the machine within its BMC. Found by the UUID when left empty.'),
  power: z
    .enum([...power.options, ''])
    .optional()
    .describe('Power state that the operator brings the machine to. Written by the operator; deprecated as an input.'),
  indicatorLED: indicatorLed.optional().describe('What the locator light of the machine should do.'),
  reclaimPolicy: apiDefault(z.enum(['Recycle', 'Retain']), 'Recycle').describe(
    'What happens when a claim gives the server back. Recycle: it is cleaned and can be claimed again. Retain: it stays Released until somebody clears serverClaimRef.',
  ),
  serverClaimRef: claimRef
    .optional()
    .describe('The claim that holds the server. Set by the operator; it can be cleared, not turned to another claim.'),
  serverMaintenanceRef: objectRef.optional().describe('The maintenance that holds the server.'),
  bmcRef: localRef.optional().describe('The BMC of the machine. Wins over bmc.'),
  bmc: inlineBmc.optional().describe('The BMC of the machine, given here instead of as an object of its own.'),
  bootConfigurationRef: objectRef.optional().describe('What the machine boots from the network next.'),
  maintenanceBootConfigurationRef: objectRef.optional().describe('What the machine boots during its maintenance.'),
  bootOrder: z.array(bootDevice).optional().describe('Order of boot devices in the firmware.'),
  biosSettingsRef: localRef
    .optional()
    .describe('BIOSSettings applied to the machine. Deprecated: the reference from BIOSSettings is enough.'),
  taints: z.array(taint).optional().describe('Keep claims away that do not tolerate them.'),
  unclaimable: apiDefault(z.boolean(), false).describe(
    'true: no new claim gets the server. A claim that has it keeps it.',
  ),
});
