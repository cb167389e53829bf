import type { Logger } from 'pino';

/** Disposes once, when called or upon the signal. */
export function disposeOnAbort(
  running: AsyncDisposableStack,
  { signal, log }: { signal?: AbortSignal | undefined; log: Logger },
): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    signal?.removeEventListener('abort', onAbort);
    stopping ??= running.disposeAsync();
    return stopping;
  };
  const onAbort = (): void =>
    void stop().catch((error: unknown) => log.error({ err: error }, 'the boot service did not stop cleanly'));
  signal?.addEventListener('abort', onAbort, { once: true });
  return stop;
}
