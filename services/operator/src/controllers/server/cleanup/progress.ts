import type { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import type { DiskErasure } from '@metal/api/wire/erasure.ts';

/** In whole percents, which limits the number of condition updates. */
export function progressOf(record: ErasureReport | undefined): string {
  const { mode, disks = [] } = record?.spec ?? {};
  if (mode === 'None') return 'no disk was to be erased';
  if (disks.length === 0) return 'nothing was reported yet';
  const done = disks.filter(({ result }) => result === 'Erased').length;
  const erased = disks.reduce((sum, { erasedBytes, sizeBytes }) => sum + Math.min(erasedBytes, sizeBytes), 0);
  const all = disks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const share = all === 0 ? 100 : Math.floor((erased * 100) / all);
  return `${done} of ${disks.length} disks are erased, ${share} % of ${inGigabytes(all)}`;
}

const inGigabytes = (bytes: number): string => `${Math.round(bytes / 1e9)} GB`;

/** Names per category that a message has room for. */
const mostNames = 2;

/** The disks by their state when the order was withdrawn. The agent erases nothing before its first report. */
export function erasedSoFar(record: ErasureReport | undefined): string {
  if (record === undefined) return 'no disk was begun';
  const { state, disks = [] } = record.spec;
  const categories = Map.groupBy(disks, categoryOf);
  const summaries = (['erased', 'partly erased', 'still erasing by itself', 'untouched'] as const).flatMap(
    (category) => {
      const names = categories.get(category)?.map(({ name, serial }) => name || serial.slice(0, 20));
      return names === undefined ? [] : [`${category}: ${shortened(names)}`];
    },
  );
  const diskSummary = summaries.length === 0 ? 'no disk was begun' : summaries.join('; ');
  return state === 'Running' ? `the eraser is told to stop; ${diskSummary}` : `erasing has ended; ${diskSummary}`;
}

/** A disk whose eraser was stopped, or failed, may be erased in part. */
function categoryOf({ result, continuesByItself }: DiskErasure) {
  if (continuesByItself === true) return 'still erasing by itself';
  if (result === 'Erased') return 'erased';
  return result === 'Pending' ? 'untouched' : 'partly erased';
}

const shortened = (names: readonly string[]): string =>
  names.length <= mostNames
    ? names.join(', ')
    : `${names.slice(0, mostNames).join(', ')} and ${names.length - mostNames} more`;
