import type { Limits } from './limits.ts';
import type { Compliance, Progress } from './update.ts';

/** A selected server or BMC that has an update of the set. */
export interface RolloutTarget {
  readonly name: string;
  /** Value of the label that orders the waves. */
  readonly topology: string | undefined;
  /** Number of its servers: 1 for a server. */
  readonly servers: number;
  /** Those that are in maintenance, or may be at any time, for whatever update. */
  readonly unavailable: number;
  readonly progress: Progress;
  readonly compliance: Compliance;
  /** The rollout let it begin with its present spec. */
  readonly wasStarted: boolean;
  /** The owner of a server has not approved the maintenance yet. */
  readonly awaitsApproval?: boolean;
}

export type HoldReason =
  | 'RolloutPaused'
  | 'RolloutStopped'
  | 'MaxUnavailableZero'
  | 'BMCTooLarge'
  | 'CanaryInProgress'
  | 'MaxUnavailableReached'
  | 'TopologyInProgress'
  | 'NotCompared';

export interface RolloutPlan {
  /** May begin now, in order. */
  readonly start: readonly string[];
  readonly running: readonly string[];
  /** Have to wait, in order. */
  readonly waiting: readonly string[];
  readonly failed: readonly string[];
  /** Numbers from 1; 0 of 0 if nothing has to change. */
  readonly wave: number;
  readonly waves: number;
  /** Why those that wait do. */
  readonly hold: { readonly reason: HoldReason; readonly message: string } | undefined;
}

type Hold = RolloutPlan['hold'];

const openStates: readonly Progress[] = ['comparing', 'unreadable', 'waiting'];
const isOpen = ({ progress, compliance }: RolloutTarget): boolean =>
  openStates.includes(progress) && compliance !== 'compliant';
/** Done, and its servers are back in the pool. A failed one is left to a person. */
const isOver = (target: RolloutTarget): boolean =>
  target.progress === 'failed' || target.progress === 'unreadable' || (!isAtWork(target) && !isOpen(target));
const isAtWork = ({ progress, wasStarted, unavailable }: RolloutTarget): boolean =>
  progress === 'running' || (wasStarted && progress === 'done' && unavailable > 0);

/**
 * Which updates may begin now. `targets` are in the order of the rollout. Never more than `maxUnavailable` servers are unavailable
 * by it: every server counts once, whatever its updates, and those that are unavailable anyway join at no cost. Without limits all begin at once.
 */
export function planRollout(targets: readonly RolloutTarget[], limits: Limits | undefined): RolloutPlan {
  const failed = targets.filter(({ progress }) => progress === 'failed').map(({ name }) => name);
  const chosen =
    limits === undefined ? { start: targets.filter(isOpen).map(({ name }) => name) } : choose(targets, failed, limits);
  const start = new Set(chosen.start);
  const waiting = targets.filter((target) => isOpen(target) && !start.has(target.name)).map(({ name }) => name);
  return {
    start: chosen.start,
    running: targets.filter(isAtWork).map(({ name }) => name),
    waiting,
    failed,
    ...waveOf(targets, limits ?? noLimits),
    hold: waiting.length === 0 ? undefined : withApprovals(chosen.hold, targets),
  };
}

/** A server that may go into maintenance at any time takes its place; only its owner can end that. */
function withApprovals(hold: Hold, targets: readonly RolloutTarget[]): Hold {
  const names = targets.filter(({ awaitsApproval }) => awaitsApproval === true).map(({ name }) => name);
  if (hold?.reason !== 'MaxUnavailableReached' || names.length === 0) return hold;
  return { ...hold, message: `${hold.message}; ${names.length} wait for approval: ${firstOf(names)}` };
}

const noLimits: Limits = { maxUnavailable: Infinity, maxFailures: Infinity, canary: 0, isPaused: false };

interface Choice {
  readonly start: readonly string[];
  readonly hold?: Hold;
}

function choose(targets: readonly RolloutTarget[], failed: readonly string[], limits: Limits): Choice {
  const stop = stopOf(failed, limits);
  if (stop !== undefined) return { start: [], hold: stop };
  const tested = targets.filter(({ wasStarted, progress }) => wasStarted && progress === 'done').length;
  return tested < limits.canary ? chooseCanary(targets, limits, tested) : chooseWave(targets, limits);
}

function stopOf(failed: readonly string[], { isPaused, maxFailures, maxUnavailable }: Limits): Hold {
  if (isPaused) return { reason: 'RolloutPaused', message: 'spec.rollout.paused is true' };
  if (failed.length >= maxFailures)
    return {
      reason: 'RolloutStopped',
      message: `${failed.length} failed (${firstOf(failed)}); correct the cause, then annotate the set with operation=retry-child`,
    };
  if (maxUnavailable === 0) return { reason: 'MaxUnavailableZero', message: 'spec.rollout.maxUnavailable is 0' };
  return undefined;
}

/** One at a time, and the next when its servers are back. */
function chooseCanary(targets: readonly RolloutTarget[], limits: Limits, tested: number): Choice {
  const busy = targets.find(isAtWork);
  const hold: Hold = {
    reason: 'CanaryInProgress',
    message: `${tested} of ${limits.canary} canaries are done${busy === undefined ? '' : `; ${busy.name} is in progress`}`,
  };
  if (busy !== undefined) return { start: [], hold };
  const [first] = chooseWave(targets, limits).start;
  return first === undefined ? chooseWave(targets, limits) : { start: [first], hold };
}

function chooseWave(targets: readonly RolloutTarget[], { maxUnavailable }: Limits): Choice {
  const start: string[] = [];
  let used = unavailableOf(targets);
  let hold: Hold;
  let group: string | undefined;
  let isGroupOver = true;
  for (const target of targets) {
    if (target.topology !== group && !isGroupOver)
      hold ??= { reason: 'TopologyInProgress', message: `those with ${group ?? 'no label'} come first` };
    group = target.topology;
    isGroupOver &&= isOver(target);
    if (!isOpen(target)) continue;
    const cost = target.servers - target.unavailable;
    hold = holdOf(target, cost, { hold, used, maxUnavailable });
    if (cost > 0 && hold !== undefined) continue;
    if (cost > 0 && target.progress === 'unreadable') continue;
    start.push(target.name);
    used += cost;
  }
  return { start, hold: hold ?? notCompared };
}

const notCompared: Hold = {
  reason: 'NotCompared',
  message: 'they could not be compared with what is desired; see the condition Ready of their objects',
};

/** Once something has to wait, everything after it does, so that every set has the same order. */
function holdOf(
  { name, progress, servers }: RolloutTarget,
  cost: number,
  { hold, used, maxUnavailable }: { hold: Hold; used: number; maxUnavailable: number },
): Hold {
  if (hold !== undefined || cost <= 0 || progress === 'unreadable') return hold;
  if (progress === 'comparing') return { reason: 'NotCompared', message: `${name} is not compared yet` };
  if (used + cost <= maxUnavailable) return undefined;
  if (servers > maxUnavailable)
    return {
      reason: 'BMCTooLarge',
      message: `BMC ${name} has ${servers} servers; raise spec.rollout.maxUnavailable, which is ${maxUnavailable}`,
    };
  return {
    reason: 'MaxUnavailableReached',
    message: `${used} of at most ${maxUnavailable} servers are in maintenance or about to be`,
  };
}

export const unavailableOf = (targets: readonly RolloutTarget[]): number =>
  targets.reduce((sum, { unavailable }) => sum + unavailable, 0);

/** Servers that had nothing to change are in no wave. */
function waveOf(targets: readonly RolloutTarget[], limits: Limits): Pick<RolloutPlan, 'wave' | 'waves'> {
  const changed = targets.filter((target) => isOpen(target) || target.wasStarted || isAtWork(target));
  const waves: RolloutTarget[][] = [];
  let room = 0;
  for (const [index, target] of changed.entries()) {
    const isNew =
      index === 0 ||
      index === limits.canary ||
      (index > limits.canary && (target.servers > room || target.topology !== changed[index - 1]?.topology));
    if (isNew) {
      waves.push([]);
      room = limits.maxUnavailable;
    }
    waves.at(-1)?.push(target);
    room -= target.servers;
  }
  const present = waves.findIndex((wave) => !wave.every(isOver));
  return { wave: present < 0 ? waves.length : present + 1, waves: waves.length };
}

const mostNamed = 3;
/** The first names of a list that may be long. */
export const firstOf = (names: readonly string[]): string =>
  names.length <= mostNamed ? names.join(', ') : `${names.slice(0, mostNamed).join(', ')}, …`;
