import { OverloadedError } from '@metal/http/http-error.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { FastifyInstance } from 'fastify';
import type { RoutesOptions } from './routes-options.ts';

/** The timeout of a machine may be shorter than that of an API request. */
const acknowledgeTimeoutMs = 10_000;
const recordRetrySeconds = 5;

/** Records that the booted system is up. */
export function serveBooted(http: FastifyInstance, { machines, progress, clock }: RoutesOptions): void {
  http.post<{ Params: { token: string } }>('/boot/:token/booted', async (request, reply) => {
    const boot = await machines.byToken(request.params.token);
    if (!reportsNotBooted(request.body)) await untilRecorded(progress.record(boot, 'booted'), clock);
    return reply.code(200).send();
  });
}

/** A system reports once that it is up. The report is acknowledged after it is written, so that no crash loses it. */
async function untilRecorded(recorded: Promise<void>, clock: Clock): Promise<void> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  using _timer = clock.setTimeout(acknowledgeTimeoutMs, () =>
    reject(new OverloadedError('this could not be recorded yet; try again', recordRetrySeconds)),
  );
  await Promise.race([recorded, timeout]);
}

/** `{"booted": false}` reports a failed start; any other body, also an empty one, reports success. */
function reportsNotBooted(body: unknown): boolean {
  try {
    const parsed: unknown = JSON.parse(typeof body === 'string' ? body : '');
    return typeof parsed === 'object' && parsed !== null && 'booted' in parsed && parsed.booted === false;
  } catch {
    return false;
  }
}
