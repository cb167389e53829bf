import type { OperatorContext } from '../context.ts';

/** A rule's status is written at most this often, however many servers change at once. */
const debounceMs = 1_000;

/** Wakes a rule some time after what it says about a server has changed. */
export function readinessSource(
  { readiness, clock }: Pick<OperatorContext, 'readiness' | 'clock'>,
  enqueue: (rule: string) => void,
): Disposable {
  const changed = new Set<string>();
  let timer: Disposable | undefined;
  const enqueueAll = () => {
    timer = undefined;
    for (const rule of changed) enqueue(rule);
    changed.clear();
  };
  const subscription = readiness.changed.on((rule) => {
    changed.add(rule);
    timer ??= clock.setTimeout(debounceMs, enqueueAll);
  });
  return {
    [Symbol.dispose]: () => {
      subscription[Symbol.dispose]();
      timer?.[Symbol.dispose]();
    },
  };
}
