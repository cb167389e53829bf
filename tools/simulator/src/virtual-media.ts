import { root } from './links.ts';
import type { Machine, VirtualMedia } from './machine.ts';
import { failure, member, type Reply, type Resource } from './replies.ts';

export const mediaId = 'Cd';

/** DMTF's VirtualMedia 1.6, with the properties that clients need to boot from a CD. */
export const mediaResource = ({ image }: VirtualMedia, path: string): Resource => ({
  '@odata.id': path,
  '@odata.type': '#VirtualMedia.v1_6_3.VirtualMedia',
  Id: mediaId,
  Name: 'Virtual CD',
  MediaTypes: ['CD', 'DVD'],
  ConnectedVia: image === undefined ? 'NotConnected' : 'URI',
  Image: image ?? null,
  ImageName: image === undefined ? null : (new URL(image).pathname.split('/').at(-1) ?? null),
  Inserted: image !== undefined,
  WriteProtected: true,
  TransferMethod: 'Upload',
  TransferProtocolType: image === undefined ? null : new URL(image).protocol.slice(0, -1).toUpperCase(),
  Actions: {
    '#VirtualMedia.InsertMedia': { target: `${path}/Actions/VirtualMedia.InsertMedia` },
    '#VirtualMedia.EjectMedia': { target: `${path}/Actions/VirtualMedia.EjectMedia` },
  },
});

/** Handles a POST to an action of a machine's virtual media; undefined for other paths. */
export function mediaAction(machines: readonly Machine[], path: string, body: unknown): Promise<Reply> | undefined {
  for (const { systemId, virtualMedia: media } of machines) {
    const actions = `${root}/Systems/${systemId}/VirtualMedia/${mediaId}/Actions/VirtualMedia`;
    if (media !== undefined && path === `${actions}.InsertMedia`) return insert(media, member(body, 'Image'));
    if (media !== undefined && path === `${actions}.EjectMedia`) return media.eject().then(() => ({ status: 204 }));
  }
  return undefined;
}

export async function insert(media: VirtualMedia, image: unknown): Promise<Reply> {
  if (image === undefined) return failure(400, 'ActionParameterMissing', 'Image is missing');
  if (typeof image !== 'string' || !/^https?:\/\/[^/]/.test(image) || !URL.canParse(image))
    return failure(400, 'ActionParameterNotSupported', `Image must be an http or https address`);
  if (media.image !== undefined) return failure(409, 'ResourceInUse', `${media.image} is inserted; eject it first`);
  try {
    await media.insert(image);
    return { status: 204 };
  } catch (error) {
    return failure(400, 'ResourceMissingAtURI', `${image}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
