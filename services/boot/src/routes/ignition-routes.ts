import { unmapped } from '@metal/api/common/address-list.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { HttpError } from '@metal/http/http-error.ts';
import { SingleFlight } from '@metal/kube/runtime/single-flight.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ignitionIsSpent } from '../authorization/boot-decision.ts';
import { type Ignition, readIgnition } from '../ignition/ignition.ts';
import { getOrHead, onceDelivered } from './delivery.ts';
import type { RoutesOptions } from './routes-options.ts';

/** Each read costs an API request, and a translation where it is Butane. */
const perIgnition = { everyMs: 1_000, burst: 5 };

/** The ignition of a boot: by its token, and with `auth: none` by UUID. */
export function serveIgnition(http: FastifyInstance, options: RoutesOptions): void {
  const { machines, auth } = options;
  const send = ignitionSender(options);
  http.route<{ Params: { token: string } }>({
    method: getOrHead,
    url: '/boot/:token/ignition',
    handler: async (request, reply) => send(request, reply, await machines.confirmedByToken(request.params.token)),
  });
  http.route<{ Params: { uuid: string } }>({
    method: getOrHead,
    url: '/ignition/:uuid',
    handler: async (request, reply) => {
      if (auth !== 'none')
        throw new HttpError(403, 'ignition is given out by token only; use the address on the kernel command line');
      const { boot, reason } = await machines.decide(machines.byUuid(request.params.uuid));
      if (boot === undefined) throw new HttpError(404, reason);
      return send(request, reply, boot);
    },
  });
}

function ignitionSender(options: RoutesOptions) {
  const { clients, progress, clock } = options;
  const reads = new SingleFlight<Ignition | undefined>({ clock, ...perIgnition });
  return async (request: FastifyRequest, reply: FastifyReply, boot: ServerBootConfiguration) => {
    if (ignitionIsSpent(boot, clock.now()))
      throw new HttpError(403, 'the ignition of this boot was delivered before; it is not given out again');
    clients.admit(boot, 'system', request.ip);
    const ignition = await reads.run(boot.metadata.uid ?? '', () => readIgnition(boot, options));
    if (ignition === undefined) throw new HttpError(404, 'this boot has no ignition');
    onceDelivered(request, reply, () => void progress.record(boot, 'ignition', `by ${unmapped(request.ip)}`));
    return reply.header('cache-control', 'no-store').type(ignition.contentType).send(ignition.reveal());
  };
}
