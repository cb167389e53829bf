import type { Server } from '@metal/api/v1alpha1/server.ts';
import { Arrivals } from '../arrivals.ts';
import { figuresOfTimes } from '../measurement.ts';
import type { Stage } from '../stage.ts';
import type { Outcome } from './scenario.ts';

/**
 * Nothing for so long, and a scenario has failed: the slowest operator looks again every two minutes, and where many do the
 * same in step, the first is there when most of the time is over.
 */
const timeoutMsFor = (servers: number): number => 300_000 + 60 * servers;

export interface LoadOptions {
  /** What is waited for, for people. */
  readonly title: string;
  readonly expected: readonly string[];
  /** Tells who is there, now and later. */
  readonly follow: (arrive: (name: string) => void) => Disposable;
  /** Sets it all going. */
  readonly start: () => Promise<void>;
}

/** Measures from the moment it begins until everybody is there: the times of each, and what the operator spent. */
export async function measureLoad(stage: Stage, { title, expected, follow, start }: LoadOptions): Promise<Outcome> {
  const spent = await stage.meter.start(expected.length);
  const arrivals = new Arrivals(expected);
  using _following = follow((name) => arrivals.arrive(name));
  const formatProgress = () => `${arrivals.seconds.size} of ${arrivals.expected}`;
  await stage.progress.during(title, formatProgress, () =>
    Promise.all([start(), Promise.race([arrivals.all(timeoutMsFor(expected.length)), stage.failWhenOperatorExits()])]),
  );
  const { figures, ...requests } = await spent();
  return {
    servers: expected.length,
    seconds: arrivals.seconds,
    ...requests,
    figures: { ...figuresOfTimes(arrivals.seconds.values()), ...figures },
  };
}

export const uuidOf = ({ spec }: Server): string => spec.systemUUID.toLowerCase();

/** Nobody holds it, and it is off. */
export const isAtRest = ({ status }: Server): boolean => status?.state === 'Available' && status.powerState === 'Off';

export const readyReasonOf = ({ status }: Server): string | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
