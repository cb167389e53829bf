import type { FastifyInstance, FastifyRequest } from 'fastify';
import { join } from 'node:path';
import { unmapped } from '@metal/api/common/address-list.ts';
import { type Artefact, fileArtefact } from '../images/artefact.ts';
import { BootError } from '../errors.ts';
import { type BootImages, preparedDigestOf } from '../images/images.ts';
import { type KnownMachines, normalised } from '../authorization/known-machines.ts';
import type { BootAuthorizer } from '../authorization/boot-authorizer.ts';
import { isDigest, nameOf, parseImageReference } from '../images/oci/reference.ts';
import type { OciImages } from '../images/oci/oci-images.ts';
import { ukiUrl } from '../images/public-url.ts';
import { HttpError } from '@metal/http/http-error.ts';
import { getOrHead } from './delivery.ts';
import type { SendArtefact } from './file-routes.ts';

export interface TokenlessOptions {
  readonly machines: BootAuthorizer;
  readonly known: KnownMachines;
  readonly images: BootImages;
  readonly oci: OciImages | undefined;
  readonly defaultUkiImage: string | undefined;
  readonly ipxeDirectory: string | undefined;
  readonly publicUrl: () => string;
  readonly isTrustedProxy: (address: string) => boolean;
  readonly send: SendArtefact;
}

type Query = { imageName?: unknown; version?: unknown; layerDigest?: unknown };
/** iPXE for firmware that boots over HTTP without a boot file of its own; no other file of the directory is served. */
const ipxePrograms = ['ipxe.efi', 'snponly.efi', 'ipxe-x86.efi', 'ipxe-arm64.efi'] as const;
/** A DHCP server sends one or two addresses of a machine. */
const maxIdentifiers = 16;

/**
 * The routes that require no token: iPXE itself, and those of the boot operator of IronCore, for DHCP servers and firmware that
 * use its URLs.
 *
 *   GET /ipxe.efi, /ipxe-arm64.efi, …        ───► iPXE, which gets the URL of its script by DHCP
 *   GET /httpboot                            ───► JSON: the URL of the UKI of the machine, by X-Forwarded-For or its address
 *   GET /httpboot/<repo…>/sha256-<hex>.efi   ───► a layer of an image that a boot was prepared with
 *   GET /image?imageName&version&layerDigest ───► the same
 *
 * These responses contain no token and no ignition; and no UUID, which leads to the token, if the header came from an untrusted
 * client.
 */
export function serveTokenless(http: FastifyInstance, options: TokenlessOptions): void {
  serveIpxePrograms(http, options);
  http.route({
    method: getOrHead,
    url: '/httpboot',
    handler: async (request, reply) => {
      const { identifiers, areSure } = identifiersOf(request, options);
      const { SystemUUID, ...uki } = (await ukiOfMachine(identifiers, options)) ?? (await defaultUki(options));
      const machine = SystemUUID === undefined || !areSure ? {} : { SystemUUID };
      return reply.header('cache-control', 'no-store').send({ ClientIPs: identifiers, ...uki, ...machine });
    },
  });
  serveLayers(http, options);
}

function serveIpxePrograms(http: FastifyInstance, { ipxeDirectory, send }: TokenlessOptions): void {
  for (const program of ipxePrograms) {
    http.route({
      method: getOrHead,
      url: `/${program}`,
      handler: (request, reply) => {
        if (ipxeDirectory === undefined) throw new HttpError(404, 'no programs of iPXE are served (--ipxe-directory)');
        return send(request, reply, fileArtefact(join(ipxeDirectory, program), 'application/efi')).catch(
          (cause: unknown) => {
            if (!(cause instanceof BootError)) throw cause;
            throw new HttpError(404, `there is no ${program} in the directory of --ipxe-directory`, { cause });
          },
        );
      },
    });
  }
}

function serveLayers(http: FastifyInstance, { oci, send }: TokenlessOptions): void {
  const layer = (repository: string, digest: string): Artefact => {
    const artefact = isDigest(digest) ? oci?.knownLayer(repository, digest) : undefined;
    if (artefact === undefined) throw new HttpError(404, 'this is no layer of an image that a boot was prepared with');
    return artefact;
  };
  http.route<{ Params: { '*': string } }>({
    method: getOrHead,
    url: '/httpboot/*',
    handler: (request, reply) => {
      const [, repository = '', hex = ''] = /^(.+)\/sha256-([0-9a-f]{64})\.efi$/.exec(request.params['*']) ?? [];
      return send(request, reply, layer(repositoryOf(repository), `sha256:${hex}`));
    },
  });
  http.route<{ Querystring: Query }>({
    method: getOrHead,
    url: '/image',
    handler: (request, reply) => {
      const { imageName, version, layerDigest } = request.query;
      if (typeof imageName !== 'string' || typeof version !== 'string' || typeof layerDigest !== 'string')
        throw new HttpError(404, 'expected imageName, version and layerDigest, each once');
      return send(request, reply, layer(repositoryOf(imageName), layerDigest));
    },
  });
}

function repositoryOf(text: string): string {
  const reference = parseImageReference(text);
  if (reference === undefined) throw new HttpError(404, 'this is no name of an image');
  return nameOf(reference);
}

/**
 * Addresses and MAC addresses from the header of a DHCP server, else the address of the client. Those of a header are trusted
 * only from a trusted proxy.
 */
function identifiersOf(
  { headers, ip, socket }: FastifyRequest,
  { isTrustedProxy }: Pick<TokenlessOptions, 'isTrustedProxy'>,
): { identifiers: string[]; areSure: boolean } {
  const named = [headers['x-forwarded-for'] ?? []]
    .flat()
    .flatMap((value) => value.split(','))
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => normalised(entry) !== undefined);
  if (named.length === 0) return { identifiers: [unmapped(ip)], areSure: true };
  return { identifiers: named.slice(0, maxIdentifiers), areSure: isTrustedProxy(socket.remoteAddress ?? '') };
}

async function ukiOfMachine(identifiers: readonly string[], options: TokenlessOptions) {
  for (const identifier of identifiers) {
    const server = options.known.find(identifier);
    const { boot } = server === undefined ? {} : await options.machines.decide(server);
    if (server === undefined || boot === undefined) continue;
    const url = ukiUrl(
      await options.images.resolve(boot.spec.image, { digest: preparedDigestOf(boot) }),
      options.publicUrl(),
    );
    if (url !== undefined) return { UKIURL: url, SystemUUID: server.spec.systemUUID.toLowerCase() };
  }
  return undefined;
}

/** `check` caches the result for half a minute: requests of unknown clients do not reach the registry each time. */
async function defaultUki(options: TokenlessOptions): Promise<{ UKIURL: string; SystemUUID?: string }> {
  const { defaultUkiImage, images } = options;
  const plan = defaultUkiImage === undefined ? undefined : await images.check(defaultUkiImage, neverAborted);
  const url = plan && ukiUrl(plan.image, options.publicUrl());
  if (url === undefined)
    throw new HttpError(404, 'no boot with a UKI is prepared for this machine, and there is no default');
  return { UKIURL: url };
}

const neverAborted = new AbortController().signal;
