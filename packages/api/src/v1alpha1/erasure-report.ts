import { immutable, keptOnceSet, rule } from '@metal/kube/kinds/cel.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, formerClaim, group, int32, time, version } from '../common/fields.ts';
import { diskErasure, erasureModes } from '../wire/erasure.ts';

const spec = z.object({
  serverRef: z
    .object({ name: z.string().describe('Name of the server.'), uid: z.string().describe('UID of the server.') })
    .describe('Server of the disks.'),
  systemUUID: z.string().describe('UUID of the system, in lower case.'),
  serialNumber: z.string().optional().describe('Serial number of the system.'),
  formerClaim: formerClaim().optional().describe('Claim that held the server before the cleanup.'),
  bootConfigurationUID: z
    .string()
    .optional()
    .describe(
      'UID of the ServerBootConfiguration of the boot that sent the report. Empty for a record without a boot.',
    ),
  attempt: int32().describe('Number of the attempt, from 1. 0 for a waiver before the first attempt.'),
  mode: z.enum(erasureModes).describe('Requested erasure mode.'),
  receivedTime: time().describe('Time of the last report, by the clock of the registry.'),
  state: rule(
    z.enum(['Running', 'Succeeded', 'Failed', 'Waived']),
    "oldSelf == 'Running' || self == oldSelf",
    'the state of a finished attempt is immutable',
  ).describe('State: Running, Succeeded, Failed or Waived. Any state except Running is final.'),
  message: z.string().optional().describe('Error message. For a waiver: the person and the reason.'),
  withdrawn: z
    .string()
    .optional()
    .describe(
      'Reason for which the erasure order was withdrawn before the end of the attempt. disks holds the progress of each disk at that time.',
    ),
  disks: z.array(diskErasure).optional().describe('Result for each disk.'),
});

const status = z.object({
  bios: z
    .object({
      requestedTime: time().describe('Time at which the BMC accepted the reset. It takes effect at the next start.'),
      result: z
        .enum(['Confirmed', 'Accepted'])
        .describe(
          'Confirmed: the BMC reported completion. Accepted: the BMC accepted the request and reports nothing further.',
        ),
    })
    .optional()
    .describe('Reset of the BIOS to factory settings. Empty if not requested.'),
  bootOrder: z
    .object({
      devices: z.array(z.string()).describe('Boot order, first device first.'),
      result: z
        .enum(['AsWanted', 'AtNextStart'])
        .describe('AsWanted: read back from the system. AtNextStart: accepted by the BMC for the next start.'),
    })
    .optional()
    .describe('Boot order after the cleanup. Empty if no reset was requested.'),
  certificate: immutable(z.string(), 'certificate')
    .optional()
    .describe('Certificate of cleanup: a JSON Web Signature (RFC 7515) by the operator over the results.'),
});

/**
 * Record of the cleanup of a server between two claims. It has no owner reference: it is kept after the deletion of the
 * server, until an administrator deletes it.
 */
export const ErasureReport = defineKind({
  group,
  version,
  kind: 'ErasureReport',
  plural: 'erasurereports',
  shortNames: ['erasure'],
  scope: 'Cluster',
  description: 'Record of the cleanup of a server between two claims: one attempt, or a waiver.',
  columns: {
    Server: '.spec.serverRef.name',
    SerialNumber: '.spec.serialNumber',
    FormerNamespace: '.spec.formerClaim.namespace',
    FormerClaim: '.spec.formerClaim.name',
    Mode: '.spec.mode',
    Attempt: { path: '.spec.attempt', type: 'integer' },
    State: '.spec.state',
    Received: { path: '.spec.receivedTime', type: 'date' },
    ...age,
  },
  fields: {
    spec: spec.describe('Reported results.'),
    status: keptOnceSet(status, 'certificate').optional().describe('Observed state.'),
  },
});
export type ErasureReport = ObjectOf<typeof ErasureReport>;

const longestName = 253;
const named = (server: string, ending: string): string => `${server.slice(0, longestName - ending.length)}${ending}`;

/** Name of the report of a boot. */
export const erasureReportName = (server: string, bootConfigurationUID: string): string =>
  named(server, `-${bootConfigurationUID.slice(0, 8)}`);

/** Name of the record of an attempt without a boot, from `status.cleanup.neededSince`. */
export const bootlessName = (server: string, neededSince: string, attempt: number): string =>
  named(server, `-${neededSince.replaceAll(/\D/g, '')}-${attempt}`);

/** Name of the record of a waiver, from `status.cleanup.neededSince`. */
export const waiverName = (server: string, neededSince: string): string =>
  named(server, `-waived-${neededSince.replaceAll(/\D/g, '')}`);
