import type { Bmc, CallOptions, WriteResponse } from '../http/bmc.ts';
import { pathOf } from '../endpoint.ts';
import { RedfishError, wasNotApplied } from '../errors.ts';
import { actionInfo, actionParameter } from '../schemas.ts';
import { task, updateService, type UpdateServiceResource } from '../update-schemas.ts';
import { applyTimeOf } from './apply-time.ts';
import { undefinedIfMissing } from './members.ts';
import { ImageUnreadable, pushImage } from './push-image.ts';
import { rememberSecret, withoutSecrets } from './secrets.ts';
import { readSystems } from './systems.ts';
import type { UpdateRequest } from './update-request.ts';

export { ImageUnreadable } from './push-image.ts';
export type { ImageToPush, UpdateRequest } from './update-request.ts';

export interface UpdateServiceInfo {
  /** The BMC fetches images (SimpleUpdate). */
  readonly canPull: boolean;
  /** Images are sent to it, as a multipart form or as a body. */
  readonly canPush: boolean;
  /** Those of SimpleUpdate; empty when the BMC does not tell. */
  readonly transferProtocols: readonly string[];
  readonly maxImageBytes: number | undefined;
}

export interface UpdateHandle {
  /** Path of the task or its monitor; undefined when the BMC reports none. */
  readonly task: string | undefined;
}

export interface StartOptions extends CallOptions {
  /** As it was just read. */
  readonly service?: UpdateServiceInfo | undefined;
}

/** Some BMCs answer only after they have fetched the image. */
const pullDeadlineMs = 2 * 60_000;

/** The update service; undefined when the BMC has none, or has disabled it. */
export async function readUpdateService(bmc: Bmc, options: CallOptions = {}): Promise<UpdateServiceInfo | undefined> {
  const service = await readService(bmc, options);
  if (service === undefined || service.ServiceEnabled === false) return undefined;
  const action = service.Actions['#UpdateService.SimpleUpdate'];
  await learnTraits(bmc, options);
  const info = {
    canPull: action !== undefined,
    canPush: service.MultipartHttpPushUri !== undefined || pushUriOf(bmc, service) !== undefined,
    transferProtocols: await transferProtocolsOf(bmc, action, options),
    maxImageBytes: service.MaxImageSizeBytes,
  };
  resources.set(info, service);
  return info;
}

/** The part of a service that was read which `startUpdate` needs. */
const resources = new WeakMap<UpdateServiceInfo, Service>();

/**
 * Starts an update, with one POST that is never repeated and has no If-Match (iDRAC answers 412 to one). When it fails,
 * `updateWasRefused` tells whether the update certainly did not start.
 * @throws RedfishError NotSupported, before anything is sent, when the BMC has no way to deliver the image.
 * @throws ImageUnreadable when `open` or its stream fails.
 */
export async function startUpdate(
  bmc: Bmc,
  request: UpdateRequest,
  { service: known, ...options }: StartOptions = {},
): Promise<UpdateHandle> {
  const service = (known && resources.get(known)) ?? (await readService(bmc, options));
  if (service === undefined) throw notSupported('the BMC has no UpdateService');
  await learnTraits(bmc, options);
  const pull = async (): Promise<WriteResponse> => {
    const action = service.Actions['#UpdateService.SimpleUpdate'];
    if (request.imageUri === undefined) throw new TypeError('a Pull needs `imageUri`');
    if (action === undefined) throw notSupported('the UpdateService has no SimpleUpdate; deliver the image by Push');
    const target = action.target ?? `${service.path}/Actions/UpdateService.SimpleUpdate`;
    return bmc.post(
      target,
      { ...simpleUpdateOf(request), ...applyTimeOf(bmc, service, request) },
      { deadlineMs: pullDeadlineMs, ...options },
    );
  };
  if (request.password !== undefined) rememberSecret(bmc, request.password);
  try {
    const isPush = request.delivery === 'Push';
    return { task: taskOf(isPush ? await pushImage(bmc, service, request, options) : await pull()) };
  } catch (error) {
    throw withoutSecretsOf(request, error);
  }
}

/**
 * Whether an update certainly did not start: the request was not sent, or the BMC refused it. Otherwise look at its tasks and
 * versions before anything is sent again.
 */
export function updateWasRefused(error: unknown): boolean {
  if (!(error instanceof RedfishError)) return error instanceof ImageUnreadable;
  const code = error.cause instanceof Error && 'code' in error.cause ? String(error.cause.code) : '';
  return wasNotApplied(error) || notConnected.has(code);
}

/** No connection was established. A POST opens a new one and is not repeated, so that this is the only attempt. */
const notConnected: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

type Service = UpdateServiceResource & { readonly path: string };

async function readService(bmc: Bmc, options: CallOptions): Promise<Service | undefined> {
  const { UpdateService: path } = await bmc.root(options);
  if (path === undefined) return undefined;
  const service = await bmc.get(path, updateService, options).catch(undefinedIfMissing);
  return service && { ...service, path };
}

/** The traits depend on the manufacturer of a system. */
async function learnTraits(bmc: Bmc, options: CallOptions): Promise<void> {
  if (bmc.manufacturer === undefined) await readSystems(bmc, options);
}

const pushUriOf = ({ traits }: Bmc, { HttpPushUri }: Service): string | undefined =>
  traits.update.pushesBody ? HttpPushUri : undefined;

async function transferProtocolsOf(
  bmc: Bmc,
  action: UpdateServiceResource['Actions']['#UpdateService.SimpleUpdate'],
  options: CallOptions,
): Promise<readonly string[]> {
  const inline = action?.['TransferProtocol@Redfish.AllowableValues'] ?? [];
  const info = action?.['@Redfish.ActionInfo'];
  if (inline.length > 0 || info === undefined) return inline;
  const resource = await bmc.get(info, actionInfo, { ...options, isSideResource: true }).catch(undefinedIfMissing);
  const parameters = (resource?.Parameters ?? []).flatMap((entry) => actionParameter.safeParse(entry).data ?? []);
  return parameters.find(({ Name }) => Name === 'TransferProtocol')?.AllowableValues ?? [];
}

function simpleUpdateOf(request: UpdateRequest): object {
  const { imageUri, transferProtocol, username, password, force, targets = [] } = request;
  return {
    ImageURI: imageUri,
    ...(transferProtocol === undefined ? {} : { TransferProtocol: transferProtocol }),
    ...(username === undefined ? {} : { Username: username }),
    ...(password === undefined ? {} : { Password: password.reveal() }),
    ...(force === true ? { ForceUpdate: true } : {}),
    ...(targets.length === 0 ? {} : { Targets: targets }),
  };
}

/**
 * Path of the task or monitor, wherever the vendors name it: the task as the body, TaskMonitor (HPE), the header Location,
 * `Task` (Dell), the link in the body (Lenovo).
 */
function taskOf({ location, body }: WriteResponse): string | undefined {
  const { '@odata.id': uri, TaskState: state, TaskMonitor, Task } = task.parse(body);
  const linked = uri !== undefined && /task|job|monitor/i.test(uri) ? uri : undefined;
  const found = (state === undefined ? undefined : uri) ?? TaskMonitor ?? location ?? Task['@odata.id'] ?? linked;
  return found === undefined ? undefined : pathOf(found);
}

const notSupported = (message: string): RedfishError => new RedfishError({ code: 'NotSupported', message });

/** The error of a BMC may repeat what it was sent. */
function withoutSecretsOf({ password }: UpdateRequest, error: unknown): unknown {
  if (!(error instanceof RedfishError)) return error;
  const message = withoutSecrets(error.message, password === undefined ? [] : [password]);
  if (message === error.message) return error;
  const { code, status, retryAfterMs, messageIds, cause } = error;
  return new RedfishError({ code, message, status, retryAfterMs, messageIds, cause });
}
