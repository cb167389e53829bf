import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import type { OperatorContext } from '../../context.ts';
import { isHeldBack, isSubject, unmetCondition } from '../../readiness.ts';

/** A rule's status is written at most this often, however many servers change at once. */
const gatheringMs = 1_000;

/** Wakes a rule some time after what it says about a server has changed. */
export function wakeWithServers(
  { caches, clock }: Pick<OperatorContext, 'caches' | 'clock'>,
  wake: (rule: string) => void,
): Disposable {
  const changed = new Set<string>();
  let timer: Disposable | undefined;
  const wakeAll = () => {
    timer = undefined;
    for (const rule of changed) wake(rule);
    changed.clear();
  };
  const subscription = caches.servers.onChange(({ before, after }) => {
    for (const rule of caches.readinessRules.all()) {
      const news = rule.metadata.deletionTimestamp !== undefined || verdict(before, rule) !== verdict(after, rule);
      if (news) changed.add(rule.metadata.name);
    }
    if (changed.size > 0) timer ??= clock.setTimeout(gatheringMs, wakeAll);
  });
  return {
    [Symbol.dispose]: () => {
      subscription[Symbol.dispose]();
      timer?.[Symbol.dispose]();
    },
  };
}

function verdict(server: Server | undefined, rule: ServerReadinessRule): string {
  if (server === undefined || server.metadata.deletionTimestamp !== undefined || !isSubject(server, rule)) return '';
  return isHeldBack(server, rule) ? `wants ${unmetCondition(server, rule) ?? ''}` : 'ready';
}
