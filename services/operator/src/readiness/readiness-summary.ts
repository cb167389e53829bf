import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import type { OperatorCaches } from '../caches.ts';
import { isHeldBack, isSameRule, isSubject, unmetCondition } from './readiness.ts';
import { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';
import type { Change } from '@metal/kube/cache/store.ts';
import { SortedNames } from '@metal/kube/runtime/sorted-names.ts';

/** Servers of a readiness rule; servers that are being deleted do not count. */
export interface RuleSummary {
  /** Number of servers that the rule selects. */
  readonly selected: number;
  /** Servers that the rule holds back. */
  readonly heldBack: Pick<SortedNames, 'size' | 'first'>;
}

/** The summary of each readiness rule, updated with each change: a report does not iterate over the fleet. */
export class ReadinessSummary {
  readonly #caches: Pick<OperatorCaches, 'servers' | 'readinessRules'>;
  readonly #summaries = new Map<string, { selected: number; readonly heldBack: SortedNames }>();
  /** The result of the named rule for a server changed. For a rule that is being deleted: any server changed. */
  readonly changed = new KeyNotifier();

  constructor(caches: Pick<OperatorCaches, 'servers' | 'readinessRules'>) {
    this.#caches = caches;
  }

  /** Follows the caches until disposed. */
  start(): Disposable {
    const subscriptions = [
      this.#caches.servers.onChange((change) => this.#followServer(change)),
      this.#caches.readinessRules.onChange(({ key, before, after }) => {
        if (after === undefined) this.#summaries.delete(key);
        else if (!isSameRule(before, after)) this.#count(after);
      }),
    ];
    for (const rule of this.#caches.readinessRules.all()) this.#count(rule);
    return {
      [Symbol.dispose]: () => {
        subscriptions.forEach((subscription) => subscription[Symbol.dispose]());
        this.#summaries.clear();
      },
    };
  }

  of(rule: ServerReadinessRule): RuleSummary {
    return this.#summaries.get(rule.metadata.name) ?? { selected: 0, heldBack: new SortedNames() };
  }

  #count(rule: ServerReadinessRule): void {
    const summary = { selected: 0, heldBack: new SortedNames() };
    this.#summaries.set(rule.metadata.name, summary);
    for (const server of this.#caches.servers.all()) {
      const result = evaluate(server, rule);
      if (result !== '') summary.selected += 1;
      summary.heldBack.put(server.metadata.name, isBlocking(result));
    }
  }

  #followServer({ key, before, after }: Change<Server>): void {
    for (const rule of this.#caches.readinessRules.all()) {
      const [was, is] = [evaluate(before, rule), evaluate(after, rule)];
      const summary = this.#summaries.get(rule.metadata.name);
      if (summary !== undefined && was !== is) {
        summary.selected += Number(is !== '') - Number(was !== '');
        summary.heldBack.put(key, isBlocking(is));
      }
      if (was !== is || rule.metadata.deletionTimestamp !== undefined) this.changed.emit(rule.metadata.name);
    }
  }
}

/** `ready`, the condition that the server lacks, or empty if the rule does not select the server. */
function evaluate(server: Server | undefined, rule: ServerReadinessRule): string {
  if (server === undefined || server.metadata.deletionTimestamp !== undefined || !isSubject(server, rule)) return '';
  return isHeldBack(server, rule) ? `wants ${unmetCondition(server, rule) ?? ''}` : 'ready';
}

const isBlocking = (result: string): boolean => result.startsWith('wants ');
