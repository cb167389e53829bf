import type { IncomingHttpHeaders } from 'node:http';
import { accountsPath, createAccount, patchAccount, removeAccount } from './account-service.ts';
import {
  patchSettings as patchAttributeSettings,
  postSettings,
  removeSettings,
} from './attributes/attribute-writes.ts';
import { noValues } from './attributes/change-attributes.ts';
import type { BmcState } from './bmc-state.ts';
import { at, root } from './links.ts';
import { bootOptions, type Machine } from './machine.ts';
import { done, failure, member, missing, rejectedLogin, type Reply } from './replies.ts';
import { defaultsResetTypes, managerResetTypes, resourceAt, sessionResource } from './resources.ts';
import { biosResetTaskAt } from './system-parts.ts';
import { startUpdate } from './update-service.ts';
import { mediaAction } from './virtual-media.ts';

/** A change by an authenticated client. */
export interface Write {
  readonly path: string;
  /** Parsed JSON; undefined for an empty body. */
  readonly body: unknown;
  readonly client: string;
  readonly headers?: IncomingHttpHeaders;
}

/** Changes a resource that `methodsAt` lets be changed. */
export function patch(bmc: BmcState, { path, body: sent }: Write): Reply {
  if (!isObject(sent) || Object.keys(sent).length === 0)
    return failure(400, 'MalformedJSON', 'the body must be a JSON object with members');
  const body = Object.fromEntries(Object.entries(sent).filter(([name]) => !name.startsWith('@odata.')));
  if (Object.keys(body).length === 0)
    return failure(400, 'NoOperation', 'the body has only annotations of OData, so that nothing changes');
  const reply = patchAttributeSettings(bmc, path, body);
  if (reply !== undefined) return reply;
  const [area, id, part] = path.slice(root.length + 1).split('/');
  const machine = area === 'Systems' ? bmc.machines.find(({ systemId }) => systemId === id) : undefined;
  if (machine !== undefined && part === undefined) return patchSystem(bmc, machine, body);
  if (machine !== undefined && part === 'Settings') return patchSettings(bmc, machine, body);
  if (area === 'AccountService' && id === 'Accounts' && part !== undefined) return patchAccount(bmc, part, body);
  return missing(path);
}

const readOnly = new Set([
  'Id',
  'Name',
  'UUID',
  'SerialNumber',
  'PowerState',
  'Manufacturer',
  'Model',
  'SKU',
  'Status',
  'BiosVersion',
]);

/** All or nothing: every property is checked before the first is changed. */
function patchSystem(bmc: BmcState, machine: Machine, body: Record<string, unknown>): Reply {
  const changes: (() => void)[] = [];
  for (const [name, value] of Object.entries(body)) {
    const change = changeOfSystem(bmc, machine, name, value);
    if (typeof change !== 'function') return change;
    changes.push(change);
  }
  for (const change of changes) change();
  machine.touch();
  return done(bmc.profile.changedStatus);
}

function changeOfSystem(bmc: BmcState, machine: Machine, name: string, value: unknown): Reply | (() => void) {
  const { led, bootBySettings } = bmc.profile;
  if (name === 'Boot' && bootBySettings)
    return failure(400, 'PropertyNotWritable', 'boot settings are changed on the settings object of this system');
  if (name === 'Boot') return changeOfBoot(bmc, machine, value);
  if (name === 'AssetTag' && typeof value === 'string') return () => void (machine.assetTag = value);
  if (name === 'LocationIndicatorActive' && led !== 'IndicatorLED') {
    if (typeof value !== 'boolean') return failure(400, 'PropertyValueTypeError', `${name} must be true or false`);
    return () => void (machine.led = value ? 'Lit' : 'Off');
  }
  if (name === 'IndicatorLED' && led !== 'LocationIndicatorActive') {
    if (value !== 'Lit' && value !== 'Blinking' && value !== 'Off')
      return failure(400, 'PropertyValueNotInList', `${name} must be Lit, Blinking or Off`);
    return () => void (machine.led = value);
  }
  if (readOnly.has(name)) return failure(400, 'PropertyNotWritable', `${name} cannot be changed`);
  return failure(400, 'PropertyUnknown', `${name} is not a property of this system`);
}

function patchSettings(bmc: BmcState, machine: Machine, body: Record<string, unknown>): Reply {
  const unknown = Object.keys(body).find((name) => name !== 'Boot' && !name.startsWith('@Redfish.'));
  if (unknown !== undefined) return failure(400, 'PropertyUnknown', `${unknown} cannot be set here`);
  const change = changeOfBoot(bmc, machine, body.Boot);
  if (typeof change !== 'function') return change;
  change();
  machine.touch();
  return done(bmc.profile.changedStatus);
}

const bootProperties = new Set([
  'BootSourceOverrideEnabled',
  'BootSourceOverrideTarget',
  'BootSourceOverrideMode',
  'HttpBootUri',
  'UefiTargetBootSourceOverride',
  'BootOrder',
]);

function changeOfBoot(bmc: BmcState, machine: Machine, boot: unknown): Reply | (() => void) {
  const { profile } = bmc;
  if (!isObject(boot)) return failure(400, 'PropertyValueTypeError', 'Boot must be an object');
  const unknown = Object.keys(boot).find((name) => !bootProperties.has(name));
  if (unknown !== undefined) return failure(400, 'PropertyUnknown', `Boot has no property ${unknown}`);
  const {
    BootSourceOverrideTarget: target,
    BootSourceOverrideEnabled: enabled,
    BootSourceOverrideMode: mode,
    BootOrder: order,
    UefiTargetBootSourceOverride: device = null,
  } = boot;
  if (device !== null) return notInList('UefiTargetBootSourceOverride', device);
  if (mode !== undefined && profile.bootMode === undefined)
    return failure(400, 'PropertyUnknown', 'BootSourceOverrideMode is not a property of this board');
  if (mode !== undefined && mode !== 'UEFI' && mode !== 'Legacy') return notInList('BootSourceOverrideMode', mode);
  if (enabled !== undefined && !isOneOf(['Once', 'Continuous', 'Disabled'], enabled))
    return notInList('BootSourceOverrideEnabled', enabled);
  if (target !== undefined && !isOneOf(profile.bootTargets, target))
    return notInList('BootSourceOverrideTarget', target);
  if (isOneOf(profile.refusedTargets, target))
    return failure(400, 'GeneralError', `booting from ${target} needs a licence`);
  if (order !== undefined && !isBootOrder(order)) return notInList('BootOrder', order);
  return () => applyBoot(bmc, machine, boot);
}

const notInList = (name: string, value: unknown): Reply =>
  failure(400, 'PropertyValueNotInList', `${name} cannot be ${JSON.stringify(value)}`);
const isOneOf = (list: readonly string[], value: unknown): value is string =>
  typeof value === 'string' && list.includes(value);
const isBootOrder = (order: unknown): order is string[] =>
  Array.isArray(order) && order.every((name) => typeof name === 'string' && name in bootOptions);

function applyBoot(bmc: BmcState, machine: Machine, boot: Record<string, unknown>): void {
  const { BootSourceOverrideMode: mode, BootSourceOverrideEnabled: enabled, HttpBootUri: uri, BootOrder: order } = boot;
  const isForgotten =
    bmc.board.consume('ignoresOverride', '') || (bmc.profile.needsExplicitBootMode && mode !== 'UEFI');
  if (isBootOrder(order) && !bmc.board.consume('ignoresBootOrder', '')) machine.bootOrder = [...order];
  if (typeof mode === 'string' && !isForgotten) machine.overrideMode = mode;
  const target =
    typeof boot.BootSourceOverrideTarget === 'string' ? boot.BootSourceOverrideTarget : machine.override?.target;
  if (enabled === 'Disabled' || target === 'None') machine.override = undefined;
  else if (target !== undefined && !isForgotten) {
    const isOnce = enabled === undefined ? (machine.override?.isOnce ?? true) : enabled === 'Once';
    machine.override = {
      target,
      isOnce,
      httpUri: typeof uri === 'string' ? uri || undefined : machine.override?.httpUri,
    };
  }
}

export function post(bmc: BmcState, write: Write): Reply | Promise<Reply> {
  const { path, body } = write;
  const machine = bmc.machines.find(
    ({ systemId }) => path === `${root}/Systems/${systemId}/Actions/ComputerSystem.Reset`,
  );
  if (machine !== undefined) return resetSystem(bmc, machine, member(body, 'ResetType'), path);
  const reset = bmc.machines.find(({ systemId }) => path === `${root}/Systems/${systemId}/Bios/Actions/Bios.ResetBios`);
  if (reset !== undefined) return resetBios(bmc, reset, path);
  const lacksManagerReset = bmc.profile.shape?.lacks?.includes('manager reset') === true;
  if (path === `${root}/Managers/${bmc.profile.managerId}/Actions/Manager.Reset` && !lacksManagerReset)
    return resetManager(bmc, body);
  if (
    path === `${root}/Managers/${bmc.profile.managerId}/Actions/Manager.ResetToDefaults` &&
    bmc.profile.offersDefaults
  )
    return resetToDefaults(bmc, body);
  if (path === accountsPath) return createAccount(bmc, body);
  if (path === `${root}/EventService/Subscriptions`) return subscribe(bmc, body);
  const updateReply = startUpdate(bmc, path, body, write.headers?.['if-match']);
  if (updateReply !== undefined) return updateReply;
  const mediaReply = mediaAction(bmc.machines, path, body);
  if (mediaReply !== undefined) return mediaReply;
  return postSettings(bmc, path, body) ?? missing(path);
}

function resetSystem(bmc: BmcState, machine: Machine, type: unknown, path: string): Reply {
  const { profile, board } = bmc;
  if (type === undefined) return failure(400, 'ActionParameterMissing', 'ResetType is missing');
  if (!isOneOf(profile.resetTypes, type))
    return failure(400, 'ActionParameterNotSupported', `reset type ${JSON.stringify(type)} is not offered`);
  const isOff = machine.power === 'Off' || machine.power === 'PoweringOff';
  const isRedundant = ['On', 'ForceOn'].includes(type) ? machine.power === 'On' : isOff && type !== 'PushPowerButton';
  if (isRedundant && profile.redundantResetStatus !== undefined)
    return failure(
      profile.redundantResetStatus,
      'OperationNotAllowed',
      `the system is ${machine.power}, ${type} is not possible`,
    );
  if (!isRedundant && !board.consume('powerNeverChanges', path)) applyReset(bmc, machine, type, isOff);
  return done(profile.changedStatus);
}

function applyReset({ board }: BmcState, machine: Machine, type: string, isOff: boolean): void {
  switch (type) {
    case 'On':
    case 'ForceOn':
      return machine.turnOn();
    case 'ForceOff':
      return machine.forceOff();
    case 'PushPowerButton':
    case 'GracefulShutdown':
      if (isOff) return machine.turnOn();
      return board.consume('ignoresShutdown', '') ? undefined : machine.turnOff();
    case 'Nmi':
      return undefined;
    case 'GracefulRestart':
      return machine.restartGracefully();
    default:
      return machine.restart();
  }
}

function resetBios(bmc: BmcState, machine: Machine, path: string): Reply {
  const { profile, board } = bmc;
  if (profile.biosReset === undefined || board.consume('lacksBiosReset', path)) return missing(path);
  machine.pendingBiosAttributes = noValues;
  machine.biosReset = board.consume('biosResetStuck', path) ? 'stuck' : 'pending';
  machine.touch();
  if (profile.biosReset !== 'task') return done(profile.changedStatus);
  const task = biosResetTaskAt(machine);
  return { status: 202, headers: { location: task }, body: resourceAt(bmc, task) };
}

function resetManager(bmc: BmcState, body: unknown): Reply {
  const type = member(body, 'ResetType');
  const isKnown = type === undefined ? !bmc.profile.managerResetTypes : isOneOf(managerResetTypes, type);
  if (!isKnown) return failure(400, 'ActionParameterNotSupported', `reset type ${JSON.stringify(type)} is not offered`);
  bmc.resets.push(typeof type === 'string' ? type : '');
  return { ...done(bmc.profile.changedStatus), afterwards: () => bmc.restart() };
}

/** ResetAll also resets the accounts: the passwords of before do not work any more. */
function resetToDefaults(bmc: BmcState, body: unknown): Reply {
  const type = member(body, 'ResetType');
  if (!isOneOf(defaultsResetTypes, type))
    return failure(400, 'ActionParameterNotSupported', `reset type ${JSON.stringify(type)} is not offered`);
  bmc.resets.push(type);
  return {
    ...done(bmc.profile.changedStatus),
    afterwards: () => {
      bmc.subscriptions.clear();
      if (type === 'ResetAll') bmc.access.resetAccounts();
      bmc.restart();
    },
  };
}

function subscribe(bmc: BmcState, body: unknown): Reply {
  if (bmc.faults.eventsDisabled) return failure(503, 'ServiceTemporarilyUnavailable', 'the event service is disabled');
  if (!isObject(body) || typeof body.Destination !== 'string')
    return failure(400, 'PropertyMissing', 'Destination is missing');
  const rejected = bmc.profile.rejectedInSubscription.find((name) => name in body);
  if (rejected !== undefined) return failure(400, 'PropertyUnknown', `${rejected} is not a property of a subscription`);
  if (body.Protocol !== 'Redfish')
    return body.Protocol === undefined
      ? failure(400, 'PropertyMissing', 'Protocol is missing')
      : notInList('Protocol', body.Protocol);
  const existing = [...bmc.subscriptions.values()].some(
    (other) => other.Destination === body.Destination && other.Context === body.Context,
  );
  if (existing) return failure(400, 'ResourceAlreadyExists', `a subscription for ${body.Destination} exists already`);
  const id = bmc.addSubscription(body);
  const path = `${root}/EventService/Subscriptions/${id}`;
  return bmc.profile.locatesSubscriptions ? created(bmc, path) : { status: 201 };
}

const created = (bmc: BmcState, path: string): Reply => ({
  status: 201,
  body: resourceAt(bmc, path) ?? at(path),
  headers: { location: path },
});

/** Needs no authentication. @returns 503 while all sessions are in use. */
export function logIn(bmc: BmcState, { body, client }: Write): Reply {
  if (!bmc.sessionsOffered) return missing(`${root}/SessionService/Sessions`);
  const account = bmc.access.authenticate(member(body, 'UserName'), member(body, 'Password'));
  if (account === undefined)
    return rejectedLogin('ResourceAtUriUnauthorized', 'user name or password is wrong, or the account is locked');
  const opened = bmc.access.openSession(account.username, client);
  if (opened === undefined)
    return failure(503, 'SessionLimitExceeded', 'the maximum number of user sessions is reached');
  const { session, token } = opened;
  const path = `${root}/SessionService/Sessions/${session.id}`;
  return {
    status: 201,
    body: sessionResource(path, session.id, account.username),
    headers: { 'x-auth-token': token, location: path },
  };
}

/** Deletes a resource that `methodsAt` lets be deleted. */
export function remove(bmc: BmcState, { path }: Write): Reply {
  const reply = removeSettings(bmc, path);
  if (reply !== undefined) return reply;
  const [, kind, id = ''] = path.slice(root.length + 1).split('/');
  if (kind === 'Accounts') return removeAccount(bmc, id);
  if (kind === 'Sessions') bmc.access.closeSession(id);
  else bmc.subscriptions.delete(id);
  return { status: 204 };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
