import { unmapped } from '@metal/api/common/address-list.ts';
import { type FirmwareKind, firmwareSegments } from '@metal/api/wire/firmware-token.ts';
import { HttpError } from '@metal/http/http-error.ts';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { FirmwareImages } from '../images/firmware-images.ts';
import { getOrHead, onceDelivered } from './delivery.ts';
import type { SendArtefact } from './file-routes.ts';

const firmwareRoute = (segment: string): string => `/firmware/${segment}/:name/:token/:file`;
export const firmwareRoutes: readonly string[] = Object.values(firmwareSegments).map(firmwareRoute);

export interface FirmwareRoutesOptions {
  /** Undefined where nothing can be stored: no image is served then. */
  readonly firmware: FirmwareImages | undefined;
  readonly log: Logger;
}

/**
 *   GET /firmware/bios/<BIOSVersion>/<token>/<file>  ───► the image of this object, with the hash in the token
 *
 * For BMCs, with URLs that the operator makes; the name of the file is for the BMC alone.
 */
export function serveFirmware(
  http: FastifyInstance,
  { firmware, log }: FirmwareRoutesOptions,
  send: SendArtefact,
): void {
  if (firmware === undefined) return;
  for (const [kind, segment] of Object.entries(firmwareSegments) as [FirmwareKind, string][]) // of this record
    http.route<{ Params: { name: string; token: string } }>({
      method: getOrHead,
      url: firmwareRoute(segment),
      handler: async (request, reply) => {
        const { name, token } = request.params;
        const image = await firmware.find(kind, name, token);
        if (image === undefined) throw new HttpError(403, 'the URL of this image is not valid, or not valid any more');
        const fetched = { object: `${kind}/${name}`, image: image.name, digest: image.digest };
        const client = unmapped(request.ip);
        onceDelivered(request, reply, () => log.info({ ...fetched, client }, 'a BMC fetched a firmware image'));
        return send(request, reply, image);
      },
    });
}
