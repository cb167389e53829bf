import { act, rest, wait } from '@metal/kube/controller/decide.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { deadlineFailure } from './deadline.ts';
import type { Step, UpdateAction } from './decisions.ts';
import { follow, restart } from './follow.ts';
import type { UpdateFacts } from './types.ts';

/** A change that is under way is followed to its end, unless the target is gone. */
export function decideDeletion(update: UpdateFacts): Step {
  const end = endOfChange(update);
  if (end !== undefined) return end;
  if (update.window.own.length > 0) return act('releaseMaintenance', 'Deleted');
  if (update.reference === 'ours') return act('releaseTarget', 'Deleted');
  return rest;
}

/** A machine that loses power while it is flashed is destroyed; settings that wait would apply at a start of the next tenant. */
function endOfChange(update: UpdateFacts): Step | undefined {
  const { attempt, target, window, isFlash } = update;
  const isSent = attempt.sendTime !== undefined && update.sending !== 'intended' && update.failure === undefined;
  const isOurs = target.servers.length > 0 && window.state === 'granted';
  if (!isSent || !isOurs || deadlineFailure(update) !== undefined) return undefined;
  if (!isFlash)
    return attempt.installTime !== undefined && attempt.resetTime === undefined ? toRestart(update) : undefined;
  const step = follow(update);
  if (step.kind === 'wait' || (step.kind === 'act' && finishing.includes(step.action))) return step;
  return undefined;
}

/** Nothing is sent any more. */
const finishing: readonly UpdateAction[] = [
  'findSent',
  'readTask',
  'compare',
  'turnOff',
  'turnOn',
  'recordOff',
  'recordRestart',
  'resetBmc',
];

const toRestart = (update: UpdateFacts): Step =>
  update.target.blocker === undefined
    ? restart(update)
    : wait(seconds(30), 'BMCNotReady', update.target.blocker.message);
