import type { ClaimScheduler } from '../../scheduling/scheduler.ts';

/** Wakes claims that were promised a server, and those that wait for something else than they say. */
export function schedulerSource(
  { scheduler }: { readonly scheduler: Pick<ClaimScheduler, 'assumed' | 'reasonChanged'> },
  enqueue: (claimKey: string) => void,
): Disposable {
  const subscriptions = [scheduler.assumed.on(enqueue), scheduler.reasonChanged.on(enqueue)];
  return { [Symbol.dispose]: () => subscriptions.forEach((subscription) => subscription[Symbol.dispose]()) };
}
