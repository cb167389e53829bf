import type * as z from 'zod';
import { statusCondition, type system } from '../schemas.ts';

/** Levels of health in Redfish, from good to bad. */
export const healthLevels = ['OK', 'Warning', 'Critical'] as const;
export type HealthLevel = (typeof healthLevels)[number];

/** A part that is not OK. */
export interface UnhealthyPart {
  readonly name: string;
  readonly health: HealthLevel;
}

/** The health of a resource and everything in it. */
export interface HealthReport {
  /** HealthRollup, or Health without it; undefined when the BMC reports neither. */
  readonly level: HealthLevel | undefined;
  /** The causes that the resource itself lists; most BMCs list none. */
  readonly causes: readonly UnhealthyPart[];
}

type Status = z.output<typeof system>['Status'];

export const healthReportOf = (status: Status): HealthReport => ({
  level: levelOf(status.HealthRollup) ?? levelOf(status.Health),
  causes: status.Conditions.flatMap((condition) => {
    const { Message, Severity, OriginOfCondition } = statusCondition.safeParse(condition).data ?? {};
    const health = levelOf(Severity);
    const name = OriginOfCondition?.split('/').filter(Boolean).at(-1) ?? Message;
    return health === undefined || health === 'OK' || name === undefined ? [] : [{ name: nameOf(name), health }];
  }),
});

const longestName = 40;

/** The BMC chooses the text: it is cut, and other characters than printable ASCII are replaced. */
export const nameOf = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, longestName);

/** Worst first. */
export const worstFirst = (parts: readonly UnhealthyPart[]): UnhealthyPart[] =>
  parts.toSorted((a, b) => healthLevels.indexOf(b.health) - healthLevels.indexOf(a.health));

const levelOf = (text: string | undefined): HealthLevel | undefined =>
  healthLevels.find((level) => level.toLowerCase() === text?.toLowerCase());
