import * as z from 'zod';
import { int32 } from './scalars.ts';

const tls = z.object({
  caBundle: z
    .string()
    .optional()
    .describe(
      'Certificates, in PEM, that may have signed the certificate of this BMC, besides those the operator trusts anyway.',
    ),
  fingerprint: z
    .string()
    .regex(/^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$/)
    .optional()
    .describe(
      'SHA-256 of the one certificate this BMC is expected to show, in hexadecimal with or without colons. For BMCs with self-signed certificates.',
    ),
  insecureSkipVerify: z
    .boolean()
    .optional()
    .describe('Accept any certificate from this BMC. Whoever sits in between can then read its password.'),
});

/** How a BMC is talked to. */
export const protocol = z.object({
  name: z
    .string()
    .describe(
      'Redfish. RedfishLocal and RedfishWithRegistryPatch are variants for development. With any other name the BMC stays in state Error and its conditions say so.',
    ),
  port: int32.describe('TCP port of the service on the BMC.'),
  scheme: z
    .enum(['http', 'https', ''])
    .optional()
    .describe('http or https. Left empty, the operator decides (flag --protocol).'),
  tls: tls
    .optional()
    .describe('How the certificate of this BMC is checked. Absent, as the operator checks all of them.'),
});

/** How the console of a machine is reached. */
export const consoleProtocol = z.object({
  name: z.enum(['IPMI', 'SSH', 'SSHLenovo']).describe('Kind of console.'),
  port: int32.describe('TCP or UDP port of the console on the BMC.'),
});
