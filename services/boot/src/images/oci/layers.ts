import * as z from 'zod';
import { BootError } from '../../errors.ts';
import type { Document } from './registry-client.ts';

/** The layers of an image that a machine can load. */
export const layerNames = ['kernel', 'initrd', 'squashfs', 'uki'] as const;
export type LayerName = (typeof layerNames)[number];

/** The second names are former ones of Garden Linux. If several layers match, the last one counts. */
export const mediaTypes: Readonly<Record<LayerName, readonly string[]>> = {
  kernel: ['application/vnd.ironcore.image.kernel', 'application/io.gardenlinux.kernel'],
  initrd: ['application/vnd.ironcore.image.initramfs', 'application/io.gardenlinux.initrd'],
  squashfs: ['application/vnd.ironcore.image.squashfs', 'application/io.gardenlinux.squashfs'],
  uki: ['application/vnd.ironcore.image.uki'],
};

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'must be a SHA-256 digest');
const descriptor = z.object({ mediaType: z.string(), digest, size: z.int().nonnegative() });
const manifest = z.object({ layers: z.array(descriptor) });
const index = z.object({
  manifests: z.array(
    z.object({
      digest,
      size: z.int().nonnegative(),
      platform: z.object({ architecture: z.string() }).optional(),
      annotations: z.record(z.string(), z.string()).optional(),
    }),
  ),
});

export type Descriptor = z.output<typeof descriptor>;
export type Layers = Partial<Record<LayerName, Descriptor>>;

const indexTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];

/** The document contains its media type; some registries send a wrong header. */
export function isIndex(document: Document, name: string): boolean {
  const { mediaType, manifests } = shallow(document, name);
  return indexTypes.includes(mediaType ?? document.mediaType.replace(/;.*$/, '').trim()) || manifests !== undefined;
}

/**
 * The digest and size of the image for the architecture: the one with the former annotation for network boot, else the first for
 * that platform.
 * @throws BootError ArchitectureMissing with the existing architectures
 */
export function pickOf(document: Document, architecture: string, name: string): { digest: string; size: number } {
  const { manifests } = parsed(index, document, name);
  const isFormer = ({ annotations }: (typeof manifests)[number]) =>
    (annotations?.cname?.startsWith('metal_pxe') ?? false) && annotations?.architecture === architecture;
  const found = manifests.find(isFormer) ?? manifests.find(({ platform }) => platform?.architecture === architecture);
  if (found !== undefined) return { digest: found.digest, size: found.size };
  const present = manifests.flatMap(
    ({ platform, annotations }) => platform?.architecture ?? annotations?.architecture ?? [],
  );
  throw new BootError(
    'ArchitectureMissing',
    `image "${name}" is for ${[...new Set(present)].join(', ') || 'no architecture that it names'}; the server needs ${architecture}`,
  );
}

/** @throws BootError ImageMalformed */
export function layersOf(document: Document, name: string): Layers {
  const { layers } = parsed(manifest, document, name);
  const found = layerNames.flatMap((layer): [LayerName, Descriptor][] => {
    const last = layers.findLast(({ mediaType }) => mediaTypes[layer].includes(mediaType));
    return last === undefined ? [] : [[layer, last]];
  });
  return Object.fromEntries(found);
}

function parsed<S extends z.ZodType>(schema: S, document: Document, name: string): z.output<S> {
  const result = schema.safeParse(json(document, name));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw malformed(name, document, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`);
}

const shallow = (document: Document, name: string) =>
  parsed(z.object({ mediaType: z.string().optional(), manifests: z.unknown().optional() }), document, name);

function json(document: Document, name: string): unknown {
  try {
    return JSON.parse(document.bytes.toString('utf8'));
  } catch {
    throw malformed(name, document, 'it is no JSON');
  }
}

const malformed = (name: string, { digest }: Document, what: string): BootError =>
  new BootError('ImageMalformed', `the manifest ${digest} of "${name}" is not understood: ${what}`);
