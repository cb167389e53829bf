import type { ClaimScheduler } from '../../scheduler.ts';

/** Wakes claims that were promised a server, and those that wait for something else than they say. */
export function wakeWithScheduler(
  { scheduler }: { readonly scheduler: Pick<ClaimScheduler, 'promised' | 'reconsidered'> },
  wake: (claimKey: string) => void,
): Disposable {
  const subscriptions = [scheduler.promised.on(wake), scheduler.reconsidered.on(wake)];
  return { [Symbol.dispose]: () => subscriptions.forEach((subscription) => subscription[Symbol.dispose]()) };
}
