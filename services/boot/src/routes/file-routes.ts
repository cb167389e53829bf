import { unmapped } from '@metal/api/common/address-list.ts';
import { HttpError, OverloadedError } from '@metal/http/http-error.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Artefact } from '../images/artefact.ts';
import type { LayerName } from '../images/oci/layers.ts';
import type { Step } from '../progress/boot-steps.ts';
import { getOrHead, imageOf, onceDelivered } from './delivery.ts';
import type { RoutesOptions } from './routes-options.ts';

/** Firmware requires the file extension of an EFI program. */
const files: Readonly<Record<string, LayerName & Step>> = {
  kernel: 'kernel',
  initrd: 'initrd',
  squashfs: 'squashfs',
  'uki.efi': 'uki',
};

const fileRoute = (file: string): string => `/boot/:token/${file}`;
export const fileRoutes: readonly string[] = Object.keys(files).map(fileRoute);

/** iPXE waits this long before it retries. */
const downloadRetrySeconds = 5;

export type SendArtefact = (request: FastifyRequest, reply: FastifyReply, artefact: Artefact) => Promise<FastifyReply>;

/** Sends artefacts within the limit of concurrent downloads. */
export const limitedSender =
  (mayDownload: RoutesOptions['mayDownload']): SendArtefact =>
  (request, reply, artefact) => {
    if (!mayDownload(request.raw.socket, reply.raw))
      throw new OverloadedError('too many files are being sent; try again', downloadRetrySeconds);
    return sendArtefact(request, reply, artefact);
  };

/** Kernel, initrd, squashfs and UKI of a boot, by its token. */
export function serveFiles(
  http: FastifyInstance,
  { machines, images, clients, progress }: RoutesOptions,
  send: SendArtefact,
): void {
  for (const [file, layer] of Object.entries(files)) {
    http.route<{ Params: { token: string } }>({
      method: getOrHead,
      url: fileRoute(file),
      handler: async (request, reply) => {
        const { token } = request.params;
        const boot = await (file === 'uki.efi' ? machines.firstByToken(token) : machines.byToken(token));
        const artefact = (await imageOf(boot, images))[layer];
        if (artefact === undefined) throw new HttpError(404, `the image of this boot has no ${layer}`);
        clients.admit(boot, layer === 'squashfs' ? 'system' : 'firmware', request.ip);
        onceDelivered(request, reply, () => void progress.record(boot, layer, `by ${unmapped(request.ip)}`));
        return send(request, reply, artefact);
      },
    });
  }
}

async function sendArtefact(request: FastifyRequest, reply: FastifyReply, artefact: Artefact): Promise<FastifyReply> {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort(new Error('the client closed the connection')));
  const { range, 'if-range': ifRange, 'if-none-match': ifNoneMatch } = request.headers;
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  // Node joins repeated headers; if-range is a string.
  const response = await artefact.deliver({
    method,
    range,
    ifRange: Array.isArray(ifRange) ? ifRange[0] : ifRange,
    ifNoneMatch,
    signal: gone.signal,
  });
  return reply.code(response.status).headers(response.headers).send(response.body);
}
