import type { Server } from '@metal/api/v1alpha1/server.ts';
import { uncleanServerAnnotation } from '@metal/api/wire/contract.ts';

/** As in the facts of the cleanup. */
interface Need {
  readonly needed: boolean;
  readonly clearance: 'Cleaned' | 'Waived' | undefined;
}

type Annotations = Readonly<Record<string, string | null>>;

/**
 * `status.cleanup.neededSince` is lost with the status, for example in a restore from a backup. The annotation outlives it. It is
 * written and removed together with changes of the spec, so it costs no write of its own:
 *
 *   claim adopted ──► annotation ──► … ──► cleaned up or waived ──boot cleared──► no annotation
 *
 * It may stay longer than the need, for example where the policy requests nothing. Then a restore causes one cleanup too many.
 */
export function uncleanMark({ metadata, spec, status }: Server, { needed, clearance }: Need, now: number): Annotations {
  const isMarked = metadata.annotations?.[uncleanServerAnnotation] !== undefined;
  const isUsed = spec.serverClaimRef !== undefined;
  if (!isMarked && (isUsed || needed)) return annotate(status?.cleanup?.neededSince ?? new Date(now).toISOString());
  const isOver =
    clearance !== undefined || ((status?.state === 'Available' || status?.state === 'Decommissioned') && !needed);
  return isMarked && !isUsed && isOver ? annotate(null) : {};
}

const annotate = (value: string | null): Annotations => ({ [uncleanServerAnnotation]: value });

/** The status was lost after a claim had used the server. */
export const lostStatusUnclean = ({ metadata, status }: Server): boolean =>
  (status?.state ?? '') === '' && metadata.annotations?.[uncleanServerAnnotation] !== undefined;
