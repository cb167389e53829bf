import type { Password } from '@metal/redfish/http/bmc.ts';
import { imageUrlOf } from '@metal/api/common/firmware-image.ts';
import { type FirmwareKind, firmwareSegments, mintFirmwareToken } from '@metal/api/wire/firmware-token.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import type { UpdateRequest, UpdateServiceInfo } from '@metal/redfish/resources/update-service.ts';
import { StaleDecision } from '../errors.ts';
import type { ImageChecks, ImageContent, ImageSource } from './image-checks.ts';
import { readImageCredentials, type SecretReader } from './image-credentials.ts';
import type { VersionObject } from './types.ts';

/** How the image gets to the BMC. The stream of a push fails before its last part if the content is not the one that was checked. */
export type ImageRequest = Pick<
  UpdateRequest,
  'imageUri' | 'username' | 'password' | 'transferProtocol' | 'delivery' | 'open'
>;

export type ImageCheck =
  | { readonly kind: 'Checked'; readonly size: number; readonly sha256: string }
  /** The image is still being fetched: check again. */
  | { readonly kind: 'Checking'; readonly message: string }
  /** The operator cannot fetch the image, but the BMC may: the engine reports the condition ImageNotChecked. */
  | { readonly kind: 'NotChecked'; readonly reason: string }
  /** The image must not be sent. */
  | { readonly kind: 'Refused'; readonly message: string };

export interface ImagePlan {
  /** Undefined unless the check is Checked or NotChecked. */
  readonly request: ImageRequest | undefined;
  readonly check: ImageCheck;
}

/** The request of a plan. @throws StaleDecision while the image is being checked; RedfishError when it is refused */
export function requestIn({ request, check }: ImagePlan): ImageRequest {
  if (request !== undefined) return request;
  if (check.kind === 'Refused') throw new RedfishError({ code: 'NotSupported', message: check.message });
  throw new StaleDecision('the image is still being fetched to check it');
}

/** The password of an image: a BMC may repeat what it was sent. */
export async function imageSecrets({
  object,
  context,
}: {
  readonly object: VersionObject;
  readonly context: ImageContext;
}): Promise<Password[]> {
  const read = await readImageCredentials(object.spec.image.secretRef, context);
  return read.kind === 'Read' && read.value !== undefined ? [read.value.password] : [];
}

export interface ImageContext extends SecretReader {
  readonly clock: Clock;
  readonly imageChecks: ImageChecks;
  readonly bootTokenKey: () => Promise<Uint8Array>;
}

type Delivery = 'BMC' | 'Proxy' | 'Push';

/** A BMC may wait for a reset of its own before it fetches. */
const tokenForMs = minutes(240);

/**
 * Checks the image of a version object before its maintenance, and decides how the BMC gets it. To be called again just before
 * the update is sent: URLs of the boot service expire after four hours.
 * @throws KubeError when the API server does not respond
 */
export async function imageFor(
  { object, context }: { readonly object: VersionObject; readonly context: ImageContext },
  target: UpdateServiceInfo | undefined,
): Promise<ImagePlan> {
  const delivery = deliveryOf(object, target);
  const problem = targetProblem(object, delivery, target) ?? proxyProblem(delivery, context);
  if (problem !== undefined) return refused(problem);
  const url = imageUrlOf(object.spec.image);
  if (url === undefined) return withoutCheck(object, delivery, context);
  if (url.username !== '' || url.password !== '')
    return refused('image.URI has a user name or a password; put them into a Secret and name it in image.secretRef');
  const credentials = await readImageCredentials(object.spec.image.secretRef, context);
  if (credentials.kind === 'Refused') return refused(credentials.message);
  const source: ImageSource = { url, credentials: credentials.value };
  const content = await context.imageChecks.contentOf(source);
  const check = checkOf(object, delivery, content, target);
  const request = await requestOf({ object, delivery, source, check }, context);
  return { request, check };
}

const refused = (message: string): ImagePlan => ({ request: undefined, check: { kind: 'Refused', message } });

function deliveryOf({ spec }: VersionObject, target: UpdateServiceInfo | undefined): Delivery {
  const { delivery = 'Auto' } = spec.image;
  if (delivery !== 'Auto') return delivery;
  return target !== undefined && !target.canPull && target.canPush ? 'Push' : 'BMC';
}

/** Why the BMC cannot get an image in this way. */
function targetProblem(
  { spec }: VersionObject,
  delivery: Delivery,
  target: UpdateServiceInfo | undefined,
): string | undefined {
  if (target === undefined) return undefined;
  if (delivery === 'Push' ? !target.canPush : !target.canPull)
    return `the BMC does not support ${delivery === 'Push' ? 'push updates' : 'SimpleUpdate'}; choose another image.delivery`;
  const wanted = spec.image.transferProtocol?.toUpperCase() ?? '';
  const supported = target.transferProtocols.map((each) => each.toUpperCase());
  if (delivery !== 'BMC' || wanted === '' || supported.length === 0 || supported.includes(wanted)) return undefined;
  return `the BMC does not support the transfer protocol; supported: ${target.transferProtocols.join(', ')}. Or set image.delivery to Proxy or Push`;
}

const proxyProblem = (delivery: Delivery, { imageChecks }: ImageContext): string | undefined =>
  delivery === 'Proxy' && imageChecks.bootUrl === undefined
    ? 'image.delivery Proxy needs the boot service: set --boot-url, or choose another delivery'
    : undefined;

/** ftp, scp, nfs, tftp and others: only the BMC can fetch them. */
async function withoutCheck(object: VersionObject, delivery: Delivery, context: ImageContext): Promise<ImagePlan> {
  const { image } = object.spec;
  if (delivery !== 'BMC') return refused(`image.delivery ${delivery} needs an image.URI with http or https`);
  if (image.checksum !== undefined)
    return refused('image.checksum can only be verified over http or https; use such an image.URI, or leave it out');
  const credentials = await readImageCredentials(image.secretRef, context);
  if (credentials.kind === 'Refused') return refused(credentials.message);
  const reason = 'the operator fetches images over http and https only; the BMC fetches this one unchecked';
  return {
    request: { ...pullRequest(object), ...credentials.value },
    check: { kind: 'NotChecked', reason },
  };
}

function checkOf(
  { spec: { image } }: VersionObject,
  delivery: Delivery,
  content: ImageContent | undefined,
  target: UpdateServiceInfo | undefined,
): ImageCheck {
  if (content === undefined) return { kind: 'Checking', message: 'the image is being fetched to check it' };
  if (content.kind === 'Rejected') return { kind: 'Refused', message: rejectionOf(content.message) };
  if (content.kind === 'Unreachable') return unreachable(content.message, delivery, image.checksum);
  const { size, sha256 } = content;
  if (image.checksum !== undefined && image.checksum !== `sha256:${sha256}`)
    return { kind: 'Refused', message: `the image has SHA-256 ${sha256}; image.checksum expects another one` };
  const { maxImageBytes } = target ?? {};
  if (maxImageBytes !== undefined && size > maxImageBytes)
    return { kind: 'Refused', message: `the image has ${size} bytes; the BMC accepts ${maxImageBytes}` };
  if (size === 0) return { kind: 'Refused', message: 'the image is empty' };
  return { kind: 'Checked', size, sha256 };
}

const rejectionOf = (message: string): string =>
  `the image cannot be fetched: ${message}; check image.URI${/ 40[13]$/.test(message) ? ' and the credentials in image.secretRef' : ''}`;

/** A BMC may be in another network than the operator, but what must be verified has to be fetched. */
function unreachable(message: string, delivery: Delivery, checksum: string | undefined): ImageCheck {
  if (delivery === 'BMC' && checksum === undefined)
    return { kind: 'NotChecked', reason: `the operator cannot fetch the image (${message}); the BMC may be able to` };
  const why = delivery === 'BMC' ? 'image.checksum has to be verified' : `image.delivery is ${delivery}`;
  return { kind: 'Refused', message: `the image cannot be fetched: ${message}; ${why}` };
}

interface Checked {
  readonly object: VersionObject;
  readonly delivery: Delivery;
  readonly source: ImageSource;
  readonly check: ImageCheck;
}

async function requestOf(
  { object, delivery, source, check }: Checked,
  context: ImageContext,
): Promise<ImageRequest | undefined> {
  if (check.kind === 'NotChecked') return { ...pullRequest(object), ...source.credentials };
  if (check.kind !== 'Checked') return undefined;
  if (delivery === 'BMC') return { ...pullRequest(object), ...source.credentials };
  const fileName = fileNameOf(source.url);
  if (delivery === 'Proxy') return proxyRequest(object, check, fileName, context);
  return {
    imageUri: source.url.href,
    delivery: 'Push',
    open: async () => ({ size: check.size, fileName, stream: await context.imageChecks.open(source, check) }),
  };
}

const pullRequest = ({ spec: { image } }: VersionObject): ImageRequest => ({
  imageUri: image.URI,
  delivery: 'Pull',
  transferProtocol: image.transferProtocol === '' ? undefined : image.transferProtocol,
});

/** The BMC gets neither the address of the source nor its credentials. */
async function proxyRequest(
  { kind, metadata: { name } }: VersionObject,
  { size, sha256 }: { size: number; sha256: string },
  fileName: string,
  { imageChecks, clock, bootTokenKey }: ImageContext,
): Promise<ImageRequest> {
  const segment = firmwareSegments[kind as FirmwareKind]; // of VersionObject, whose kinds these are
  const grant = { kind: kind as FirmwareKind, name, size, sha256, expiresAt: clock.now() + tokenForMs };
  const token = mintFirmwareToken(await bootTokenKey(), grant);
  const imageUri = `${imageChecks.bootUrl}/firmware/${segment}/${name}/${token}/${fileName}`;
  return { imageUri, delivery: 'Pull', transferProtocol: imageUri.startsWith('https:') ? 'HTTPS' : 'HTTP' };
}

/** BMCs judge a file by its extension. */
const fileNameOf = ({ pathname }: URL): string => {
  const last = pathname.split('/').at(-1) ?? '';
  return last.replaceAll(/%[0-9A-Fa-f]{2}|[^A-Za-z0-9._-]/g, '_').slice(-100) || 'image.bin';
};
