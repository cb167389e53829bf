import type { OperatorContext } from '../context.ts';

/** Minimum interval between two status writes of a rule, however many servers change at once. */
const debounceMs = 1_000;

/** Enqueues a rule after its result for a server changed, debounced. */
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
