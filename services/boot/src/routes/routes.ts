import type { FastifyInstance } from 'fastify';
import { serveBooted } from './booted-route.ts';
import { serveDeployments } from './deployment-routes.ts';
import { fileRoutes, limitedSender, serveFiles } from './file-routes.ts';
import { firmwareRoutes, serveFirmware } from './firmware-routes.ts';
import { serveIgnition } from './ignition-routes.ts';
import { limitAndHandleErrors } from './responses.ts';
import type { RoutesOptions } from './routes-options.ts';
import { serveScripts } from './script-routes.ts';
import { serveTokenless } from './tokenless-routes.ts';

/** They cause no API request, and firmware may split a file into any number of range requests. */
const freeRoutes = new Set(['/ipxe', '/ipxe/', '/httpboot/*', '/image', ...fileRoutes, ...firmwareRoutes]);

/**
 *   machine                                   boot service
 *   GET /ipxe/<uuid>                     ───► script with a token in its URLs           IPXEScriptFetched
 *   GET /boot/<token>/kernel, /initrd,   ───► streamed from a file, a URL or the artefact store
 *       /squashfs, /uki.efi
 *   GET /boot/<token>/ignition           ───► Ignition JSON, until it is spent          IgnitionDataFetched
 *   GET /boot/<token>/disk-image         ───► the image of a deployment, and the files of its config drive
 *       /config-drive
 *   POST /boot/<token>/booted            ───► recorded                                  BootStateReceived
 *
 *   BMC
 *   GET /firmware/<kind>/<name>/<token>/ ───► a firmware image, pulled once
 */
export function serveBoots(http: FastifyInstance, options: RoutesOptions): void {
  const { clock, log, rateLimit } = options;
  http.removeAllContentTypeParsers();
  http.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  limitAndHandleErrors(http, { clock, log, rateLimit, freeRoutes });
  const send = limitedSender(options.mayDownload);
  serveScripts(http, options);
  serveFiles(http, options, send);
  serveTokenless(http, { ...options, send });
  serveFirmware(http, options, send);
  serveIgnition(http, options);
  serveDeployments(http, options, send);
  serveBooted(http, options);
}
