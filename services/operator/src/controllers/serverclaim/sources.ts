import type { ClaimScheduler } from '../../scheduling/scheduler.ts';

/** Enqueues claims for which a server was chosen, and claims that report an explanation that is out of date. */
export function schedulerSource(
  { scheduler }: { readonly scheduler: Pick<ClaimScheduler, 'assumed' | 'reasonChanged'> },
  enqueue: (claimKey: string) => void,
): Disposable {
  const subscriptions = [scheduler.assumed.on(enqueue), scheduler.reasonChanged.on(enqueue)];
  return { [Symbol.dispose]: () => subscriptions.forEach((subscription) => subscription[Symbol.dispose]()) };
}
