import type { BmcState } from './bmc-state.ts';
import { downloadImage } from './firmware-image.ts';
import type { AcceptedUpdate, FirmwareEntry } from './firmware.ts';
import { at, collection, root } from './links.ts';
import { PushedImage } from './pushed-image.ts';
import { failure, member, type Reply, type Resource } from './replies.ts';
import { acceptedReply } from './update-tasks.ts';

export const updateServicePath = `${root}/UpdateService`;
const inventoryPath = `${updateServicePath}/FirmwareInventory`;
const simpleUpdatePath = `${updateServicePath}/Actions/UpdateService.SimpleUpdate`;

/** Whether a POST there carries an image. */
export function isPush({ profile: { firmware } }: Pick<BmcState, 'profile'>, path: string): boolean {
  if (firmware === undefined) return false;
  return path === firmware.multipartUri || (path === firmware.pushUri && !firmware.pushUriIsOfVendor);
}

export function updateService(bmc: BmcState, path: string, rest: readonly string[]): Resource | undefined {
  if (bmc.profile.firmware === undefined || rest.length > 2) return undefined;
  const [kind, id] = rest;
  if (kind === undefined) return serviceResource(bmc, path);
  if (kind !== 'FirmwareInventory') return undefined;
  const { entries } = bmc.firmware;
  if (id === undefined)
    return collection(
      path,
      entries.map((entry) => entry.id),
      'SoftwareInventory',
    );
  const entry = entries.find((candidate) => candidate.id === id);
  return entry && inventoryResource(path, entry);
}

function serviceResource({ profile: { firmware } }: BmcState, path: string): Resource {
  const protocols = firmware?.transferProtocols;
  const supported = firmware?.applyTimes ?? [];
  return {
    '@odata.id': path,
    '@odata.type': '#UpdateService.v1_14_0.UpdateService',
    Id: 'UpdateService',
    Name: 'Update Service',
    ServiceEnabled: true,
    ...(firmware?.pushUri === undefined ? {} : { HttpPushUri: firmware.pushUri }),
    ...(firmware?.multipartUri === undefined ? {} : { MultipartHttpPushUri: firmware.multipartUri }),
    MaxImageSizeBytes: firmware?.maxImageBytes,
    FirmwareInventory: at(inventoryPath),
    ...(firmware?.simpleUpdate === true
      ? {
          Actions: {
            '#UpdateService.SimpleUpdate': {
              target: simpleUpdatePath,
              ...(protocols === undefined ? {} : { 'TransferProtocol@Redfish.AllowableValues': protocols }),
              ...(supported.length === 0
                ? {}
                : {
                    '@Redfish.OperationApplyTimeSupport': {
                      '@odata.type': '#Settings.v1_3_5.OperationApplyTimeSupport',
                      SupportedValues: supported,
                    },
                  }),
            },
          },
        }
      : {}),
  };
}

const inventoryResource = (path: string, { id, name, part, version, isStaged, relatedItems }: FirmwareEntry) => ({
  '@odata.id': path,
  '@odata.type': '#SoftwareInventory.v1_10_2.SoftwareInventory',
  Id: id,
  Name: name,
  Version: version,
  ...(part.manufacturer === undefined ? {} : { Manufacturer: part.manufacturer }),
  ...(part.softwareId === undefined ? {} : { SoftwareId: part.softwareId }),
  Updateable: part.updateable,
  ...(isStaged ? { Staged: true } : {}),
  Status: { State: 'Enabled', Health: 'OK' },
  ...(relatedItems.length === 0
    ? {}
    : { 'RelatedItem@odata.count': relatedItems.length, RelatedItem: relatedItems.map(at) }),
});

/** Handles a POST that updates firmware; undefined for other paths. */
export function startUpdate(
  bmc: BmcState,
  path: string,
  body: unknown,
  ifMatch: string | undefined,
): Reply | undefined {
  const { firmware } = bmc.profile;
  const isPull = path === simpleUpdatePath && firmware?.simpleUpdate === true;
  if (firmware === undefined || (!isPull && !isPush(bmc, path))) return undefined;
  if (firmware.refusesIfMatch && ifMatch !== undefined)
    return failure(412, 'PreconditionFailed', 'the ETag does not match');
  const update = isPull ? pulled(bmc, path, body) : pushed(bmc, path, body);
  if ('status' in update) return update;
  if (bmc.board.consume('rejectsUpdates', path)) return failure(400, 'GeneralError', 'the update is not possible');
  if (bmc.firmware.isBusy) return failure(503, 'ServiceTemporarilyUnavailable', 'another update runs');
  return acceptedReply(bmc, bmc.firmware.start(update));
}

const pullParameters = new Set(['ImageURI', 'TransferProtocol', 'Username', 'Password', 'ForceUpdate', 'Targets']);
const applyTimeName = '@Redfish.OperationApplyTime';

function pulled(bmc: BmcState, path: string, body: unknown): AcceptedUpdate | Reply {
  const { transferProtocols, maxImageBytes = 0 } = bmc.profile.firmware ?? {};
  const [image, protocol] = [textIn(body, 'ImageURI'), textIn(body, 'TransferProtocol')];
  if (image === undefined) return failure(400, 'ActionParameterMissing', 'ImageURI is missing');
  const problem = problemIn(bmc, body, pullParameters);
  if (problem !== undefined) return problem;
  if (protocol !== undefined && transferProtocols?.includes(protocol) === false)
    return failure(400, 'ActionParameterNotSupported', `TransferProtocol cannot be ${protocol}`);
  const uri = image.includes('://') ? image : `${(protocol ?? 'http').toLowerCase()}://${image}`;
  if (!URL.canParse(uri)) return failure(400, 'ActionParameterNotSupported', 'ImageURI is no URL');
  const [username, password] = [textIn(body, 'Username'), textIn(body, 'Password')];
  return {
    targetUri: path,
    targets: targetsIn(body),
    isForced: member(body, 'ForceUpdate') === true,
    isImmediate: textIn(body, applyTimeName) !== 'OnReset',
    receive: (signal) => {
      if (!/^https?:/.test(uri)) throw new Error(`${new URL(uri).protocol} is not simulated`);
      return downloadImage({ uri, username, password, maxBytes: maxImageBytes, fetch: bmc.fetch, signal });
    },
  };
}

function pushed(bmc: BmcState, path: string, body: unknown): AcceptedUpdate | Reply {
  if (!(body instanceof PushedImage)) return failure(400, 'MalformedJSON', 'the body must be an image');
  const { image, isForm, parameters } = body;
  const { multipartUri, pushNeedsTargets } = bmc.profile.firmware ?? {};
  if (isForm !== (path === multipartUri)) return failure(400, 'MalformedJSON', 'the body has another content type');
  const problem = isForm ? problemIn(bmc, parameters, new Set(['Targets', 'ForceUpdate'])) : undefined;
  if (problem !== undefined) return problem;
  const targets = targetsIn(parameters);
  const isImmediate = textIn(parameters, applyTimeName) !== 'OnReset';
  if (pushNeedsTargets === true && targets.length === 0)
    return failure(400, 'ActionParameterMissing', 'Targets are missing');
  const isForced = member(parameters, 'ForceUpdate') === true;
  return { targetUri: path, targets, isForced, isImmediate, receive: async () => image };
}

function problemIn({ profile }: BmcState, body: unknown, known: ReadonlySet<string>): Reply | undefined {
  const names = typeof body === 'object' && body !== null ? Object.keys(body) : [];
  const unknown = names.find((name) => !known.has(name) && name !== applyTimeName);
  if (unknown !== undefined) return failure(400, 'ActionParameterNotSupported', `${unknown} is not supported`);
  const applyTime = names.includes(applyTimeName) ? (textIn(body, applyTimeName) ?? '') : undefined;
  const isAccepted = applyTime === undefined || profile.firmware?.applyTimes.includes(applyTime) === true;
  return isAccepted ? undefined : failure(400, 'PropertyValueNotInList', `${applyTimeName} cannot be this`);
}

const textIn = (body: unknown, name: string): string | undefined => {
  const value = member(body, name);
  return typeof value === 'string' ? value : undefined;
};

function targetsIn(body: unknown): string[] {
  const targets = member(body, 'Targets');
  return Array.isArray(targets) ? targets.filter((target) => typeof target === 'string') : [];
}
