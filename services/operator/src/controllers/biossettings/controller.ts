import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { biosSettingsFinalizer } from '@metal/api/wire/contract.ts';
import type { ObservedAttributes } from '@metal/redfish/resources/attributes.ts';
import {
  clearPendingBiosAttributes,
  readBiosAttributes,
  writeBiosAttributes,
} from '@metal/redfish/resources/bios-attributes.ts';
import { versionsMatch } from '@metal/redfish/resources/versions.ts';
import { updateController } from '../../update-engine/controller.ts';
import { serverTargets } from '../../update-engine/target-kinds.ts';
import { digestOf, namesOf, systemOf } from '../../update-engine/targets.ts';
import type { Accepted, Comparison, Hold, Step } from '../../update-engine/types.ts';
import type { Session, UpdateKind } from '../../update-engine/update-kind.ts';
import type { OperatorContext } from '../context.ts';
import { biosSettingsConditions, biosSettingsFields } from './report.ts';
import { changesOf, compareSteps, duplicatesIn, foreignPending, isSent, orderedSteps } from './steps.ts';

type SettingsSession = Session<BIOSSettings>;

/** BIOS settings of one server, in steps. */
export const biosSettings: UpdateKind<BIOSSettings> = {
  name: 'bios-settings',
  kind: BIOSSettings,
  done: 'Applied',
  finalizer: biosSettingsFinalizer,
  isFlash: false,
  needsHostOn: true,
  restartsOnlyIfNeeded: () => false,
  ...serverTargets<BIOSSettings>({
    objectsIn: (caches) => caches.biosSettings,
    nameOf: ({ spec }) => spec.serverRef?.name,
    latestFirst: true,
  }),
  maintenanceNames: ({ metadata: { name } }) => [name, `${name}-biossettings`],
  compare,
  prepare: async (session) => clearForeign(session, await readAttributes(session)),
  apply,
  findSent: async (session, step) => (isSent(session.object, step, await readAttributes(session)) ? {} : undefined),
  holdsTarget: (object, { caches }) =>
    caches.servers.get(object.spec.serverRef?.name ?? '')?.spec.biosSettingsRef?.name === object.metadata.name,
  claimTarget: (object, context) => setReference(object, context, { name: object.metadata.name }),
  releaseTarget: (object, context) => setReference(object, context, null),
  timeoutMs: ({ config }) => config.biosSettingTimeoutMs,
  fields: biosSettingsFields,
  conditions: biosSettingsConditions,
  watches: [
    {
      kind: BIOSVersion,
      mapToKeys: ({ spec }: BIOSVersion, { caches }: OperatorContext) =>
        namesOf(caches.biosSettings.by('server', spec.serverRef?.name ?? '')),
      predicate: (before: BIOSVersion | undefined, after: BIOSVersion | undefined) =>
        before?.status?.state !== after?.status?.state || before?.spec.version !== after?.spec.version,
    },
  ],
  writes: ['patch:biossettings', 'biossettings/status', 'patch:servers'],
};

export const biosSettingsController = updateController(biosSettings);

async function compare(session: SettingsSession): Promise<Comparison> {
  const { object } = session;
  const { version, settingsFlow } = object.spec;
  const desired = digestOf({ version, settingsFlow });
  if (orderedSteps(object).length === 0) return { desired, steps: [] };
  const duplicates = duplicatesIn(object);
  if (duplicates !== undefined) return { desired, steps: [], problem: duplicates };
  const observed = await readAttributes(session);
  const compared = compareSteps(object, observed);
  if (compared.steps.length === 0) return { desired, ...compared };
  const foreign = foreignPending(object, observed);
  const clears = foreign !== undefined && object.spec.pendingSettings === 'Clear';
  const hold = versionHold(object, observed.biosVersion) ?? (clears ? undefined : foreign);
  // A value may be valid only in the version that the settings are for.
  const isOtherVersion = hold?.version !== undefined;
  const problem = isOtherVersion ? undefined : compared.problem;
  return { desired, steps: compared.steps, hold, problem, isPrepared: clears ? false : undefined };
}

function versionHold({ spec }: BIOSSettings, installed: string | undefined): Hold | undefined {
  if (spec.version === '' || versionsMatch(installed ?? '', spec.version)) return undefined;
  return {
    reason: 'VersionUpgradePending',
    message: `the settings are for BIOS ${spec.version}, and ${installed ?? 'an unknown one'} is installed`,
    version: spec.version,
  };
}

async function apply(session: SettingsSession, { name }: Step): Promise<Accepted | undefined> {
  const { object, bmc, target } = session;
  const { uri, expectedUuid } = systemOf(target);
  if (object.spec.pendingSettings === 'Clear') await clearForeign(session, await readAttributes(session));
  const isSent = await writeBiosAttributes(bmc, uri, (observed) => changesOf(object, name, observed), { expectedUuid });
  return isSent ? {} : undefined;
}

async function clearForeign({ object, bmc, target }: SettingsSession, observed: ObservedAttributes): Promise<void> {
  if (object.spec.pendingSettings !== 'Clear' || foreignPending(object, observed) === undefined) return;
  const { uri, expectedUuid } = systemOf(target);
  await clearPendingBiosAttributes(bmc, uri, { expectedUuid });
}

function readAttributes({ bmc, target, signal }: SettingsSession) {
  const { uri, expectedUuid } = systemOf(target);
  return readBiosAttributes(bmc, uri, { signal, expectedUuid });
}

async function setReference(
  { spec }: BIOSSettings,
  { client, caches }: OperatorContext,
  biosSettingsRef: { readonly name: string } | null,
): Promise<void> {
  const server = caches.servers.get(spec.serverRef?.name ?? '');
  if (server === undefined) return;
  const { name, resourceVersion } = server.metadata;
  await client.mergePatch(Server, { name }, { spec: { biosSettingsRef } }, { resourceVersion });
}
