import type { Server } from '@metal/api/v1alpha1/server.ts';
import { Arrivals } from '../arrivals.ts';
import { figuresOfTimes } from '../measurement.ts';
import type { Stage } from '../stage.ts';
import type { Outcome } from './scenario.ts';

/**
 * Timeout without an arrival: the slowest operator polls every two minutes, and if many servers progress in step, the first one
 * arrives late.
 */
const timeoutMsFor = (servers: number): number => 300_000 + 60 * servers;

export interface LoadOptions {
  /** Title of the awaited state. */
  readonly title: string;
  readonly expected: readonly string[];
  /** Reports arrivals, present and future ones. */
  readonly follow: (arrive: (name: string) => void) => Disposable;
  /** Starts the load. */
  readonly start: () => Promise<void>;
}

/** Measures from the start until all have arrived: the time of each, and the costs of the operator. */
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

/** Without a claim, and off. */
export const isAtRest = ({ status }: Server): boolean => status?.state === 'Available' && status.powerState === 'Off';

export const readyReasonOf = ({ status }: Server): string | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
