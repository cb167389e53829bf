import { bootlessName, type ErasureReport, erasureReportName } from '@metal/api/v1alpha1/erasure-report.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { cleanupModeAnnotation } from '@metal/api/wire/contract.ts';
import type { DiskErasure, OrderedDisk } from '@metal/api/wire/erasure.ts';
import type { OperatorContext } from '../../context.ts';
import { orderOf } from './disks.ts';

export interface AttemptResult {
  readonly state: 'Running' | 'Succeeded' | 'Failed';
  readonly message: string;
}

export const erasesNothing = ({ metadata }: ServerBootConfiguration): boolean =>
  metadata.annotations?.[cleanupModeAnnotation] === 'None';

/** The ErasureReport of the attempt: from the registry, or from the operator if the attempt boots nothing. */
export function recordOf(
  { metadata, status }: Server,
  boot: ServerBootConfiguration | undefined,
  { caches }: Pick<OperatorContext, 'caches'>,
): ErasureReport | undefined {
  const { neededSince = '', attempt = 0 } = status?.cleanup ?? {};
  const bootUid = boot?.metadata.uid;
  const name =
    bootUid === undefined
      ? bootlessName(metadata.name, neededSince, attempt)
      : erasureReportName(metadata.name, bootUid);
  const record = caches.erasures.get(name);
  if (record === undefined) return undefined;
  const { bootConfigurationUID, serverRef, attempt: reportedAttempt } = record.spec;
  const matches = bootConfigurationUID === bootUid && serverRef.uid === metadata.uid && reportedAttempt === attempt;
  return matches ? record : undefined;
}

/** A report of success counts only if it lists every disk that had to be erased. */
export function evaluateReport(
  { spec }: ErasureReport,
  boot: ServerBootConfiguration | undefined,
  known: ServerInventory | undefined,
): AttemptResult | undefined {
  const { state, message = '', disks = [] } = spec;
  if (state === 'Waived') return undefined;
  if (state !== 'Succeeded' || boot === undefined || erasesNothing(boot)) return { state, message };
  const ordered = known === undefined ? [] : orderOf(known, 'Metadata', 1).disks;
  const missing = ordered.find((disk) => !disks.some((one) => isSame(one, disk) && one.result === 'Erased'));
  if (known !== undefined && missing === undefined) return { state, message };
  const name = missing === undefined ? 'any disk' : `disk ${missing.serial || missing.wwid || missing.model}`;
  return { state: 'Failed', message: `the report of success does not tell that ${name} was erased` };
}

const isSame = (one: DiskErasure, { serial, wwid, model }: OrderedDisk): boolean =>
  one.serial === serial && one.wwid === wwid && one.model === model;
