import { immutable, keptOnceSet, rule } from '@metal/kube/kinds/cel.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, formerClaim, group, int32, time, version } from '../common/fields.ts';
import { diskErasure, erasureModes } from '../wire/erasure.ts';

const spec = z.object({
  serverRef: z
    .object({ name: z.string().describe('Its name.'), uid: z.string().describe('Its UID.') })
    .describe('Server whose disks these are.'),
  systemUUID: z.string().describe('UUID of the system, in lower case.'),
  serialNumber: z.string().optional().describe('Serial number of the system.'),
  formerClaim: formerClaim().optional().describe('Claim that had the disks before.'),
  bootConfigurationUID: z
    .string()
    .optional()
    .describe('UID of the ServerBootConfiguration whose boot made the report; empty where no boot did.'),
  attempt: int32().describe('Which attempt this is, counted from 1; 0 for a waiver before the first.'),
  mode: z.enum(erasureModes).describe('What was ordered.'),
  receivedTime: time().describe('When the last word arrived, by the clock of the registry.'),
  state: rule(
    z.enum(['Running', 'Succeeded', 'Failed', 'Waived']),
    "oldSelf == 'Running' || self == oldSelf",
    'an attempt that has ended does not end otherwise',
  ).describe('How far it is. What is not Running does not change any more.'),
  message: z.string().optional().describe('What went wrong; of a waiver, who waived and why.'),
  withdrawn: z
    .string()
    .optional()
    .describe('Why the order was withdrawn before the attempt ended; disks tells how far each was by then.'),
  disks: z.array(diskErasure).optional().describe('What was done to each disk.'),
});

const status = z.object({
  bios: z
    .object({
      requestedTime: time().describe('When the BMC took the order, before the start that it took effect with.'),
      result: z
        .enum(['Confirmed', 'Accepted'])
        .describe('Confirmed: the BMC says that it is done. Accepted: it took the order, and tells no more.'),
    })
    .optional()
    .describe('How the BIOS got the settings of the factory; empty where nobody asked for that.'),
  bootOrder: z
    .object({
      devices: z.array(z.string()).describe('The order, first device first.'),
      result: z
        .enum(['AsWanted', 'AtNextStart'])
        .describe('AsWanted: seen on the system. AtNextStart: the BMC keeps it for the next start.'),
    })
    .optional()
    .describe('The boot order that was left; empty where nobody asked for that.'),
  certificate: immutable(z.string(), 'certificate')
    .optional()
    .describe('What was done, signed by the operator when it found the server clean: a JSON Web Signature.'),
});

/**
 * What was done to the disks of a server between two claims. It has no owner: it is kept when the server is gone, until
 * people delete it.
 */
export const ErasureReport = defineKind({
  group,
  version,
  kind: 'ErasureReport',
  plural: 'erasurereports',
  shortNames: ['erasure'],
  scope: 'Cluster',
  description: 'What was done to a server between two claims: one attempt, or a waiver.',
  columns: {
    Server: '.spec.serverRef.name',
    SerialNumber: '.spec.serialNumber',
    FormerClaim: '.spec.formerClaim.name',
    Mode: '.spec.mode',
    Attempt: { path: '.spec.attempt', type: 'integer' },
    State: '.spec.state',
    Received: { path: '.spec.receivedTime', type: 'date' },
    ...age,
  },
  fields: {
    spec: spec.describe('What was done.'),
    status: keptOnceSet(status, 'certificate').optional().describe('What the operator found.'),
  },
});
export type ErasureReport = ObjectOf<typeof ErasureReport>;

const longestName = 253;
const named = (server: string, ending: string): string => `${server.slice(0, longestName - ending.length)}${ending}`;

/** Name of the report that a boot makes. */
export const erasureReportName = (server: string, bootConfigurationUID: string): string =>
  named(server, `-${bootConfigurationUID.slice(0, 8)}`);

/** Name of the record of an attempt that boots nothing, by the time since which the cleanup had been needed. */
export const bootlessName = (server: string, neededSince: string, attempt: number): string =>
  named(server, `-${neededSince.replaceAll(/\D/g, '')}-${attempt}`);

/** Name of the record that a cleanup was waived, by the time since which it had been needed. */
export const waiverName = (server: string, neededSince: string): string =>
  named(server, `-waived-${neededSince.replaceAll(/\D/g, '')}`);
