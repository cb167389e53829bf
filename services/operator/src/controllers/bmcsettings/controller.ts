import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSettings } from '@metal/api/v1alpha1/bmc-settings.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { bmcSettingsFinalizer } from '@metal/api/wire/contract.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import { readBmcSettings, writeBmcSettings } from '@metal/redfish/resources/bmc-settings.ts';
import { findManager } from '@metal/redfish/resources/managers.ts';
import { versionsMatch } from '@metal/redfish/resources/versions.ts';
import { StaleDecision } from '../../errors.ts';
import { updateController } from '../../update-engine/controller.ts';
import { changesOfOthers, plannedChanges, validationFailure } from '../../update-engine/settings-changes.ts';
import { bmcTargets } from '../../update-engine/target-kinds.ts';
import { digestOf, namesOf } from '../../update-engine/targets.ts';
import type { Accepted, Comparison, Hold } from '../../update-engine/types.ts';
import type { Session, UpdateKind } from '../../update-engine/update-kind.ts';
import type { OperatorContext } from '../context.ts';
import { bmcSettingsConditions } from './report.ts';
import { resolveSettings } from './variables.ts';

type SettingsSession = Session<BMCSettings>;

/** Settings of one BMC. */
export const bmcSettings: UpdateKind<BMCSettings> = {
  name: 'bmc-settings',
  kind: BMCSettings,
  done: 'Applied',
  finalizer: bmcSettingsFinalizer,
  isFlash: false,
  needsHostOn: false,
  restartsOnlyIfNeeded: () => false,
  ...bmcTargets<BMCSettings>({
    objectsIn: (caches) => caches.bmcSettings,
    nameOf: ({ spec }) => spec.BMCRef.name,
    latestFirst: true,
  }),
  maintenanceNames: ({ metadata }, server) => [`bmc-settings-${metadata.name}-${server.metadata.name}`],
  compare,
  readDesired: async (object, { client }) => digestFor(object, await resolveSettings(object, client)),
  apply,
  findSent: async (session) => ((await compare(session)).steps.length === 0 ? {} : undefined),
  holdsTarget: (object, { caches }) =>
    caches.bmcs.get(object.spec.BMCRef.name)?.spec?.bmcSettingsRef?.name === object.metadata.name,
  claimTarget: (object, context) => setReference(object, context, { name: object.metadata.name }),
  releaseTarget: (object, context) => setReference(object, context, null),
  timeoutMs: ({ config }) => config.biosSettingTimeoutMs,
  conditions: bmcSettingsConditions,
  watches: [
    {
      kind: BMCVersion,
      mapToKeys: ({ spec }: BMCVersion, { caches }: OperatorContext) =>
        namesOf(caches.bmcSettings.by('bmc', spec.bmcRef?.name ?? '')),
      predicate: (before: BMCVersion | undefined, after: BMCVersion | undefined) =>
        before?.status?.state !== after?.status?.state || before?.spec.version !== after?.spec.version,
    },
  ],
  writes: ['patch:bmcsettings', 'bmcsettings/status'],
};

export const bmcSettingsController = updateController(bmcSettings);

async function compare(session: SettingsSession): Promise<Comparison> {
  const { object, bmc, target, context, signal } = session;
  const resolved = await resolveSettings(object, context.client);
  const desired = digestFor(object, resolved);
  const hasVariables = object.spec.variables !== undefined;
  if ('missing' in resolved) return { desired, hasVariables, steps: [waiting], hold: resolved.missing };
  const { settings, secretNames } = resolved;
  const options = { signal, secretNames };
  const compared = await readBmcSettings(bmc, managerUuidOf(session), settings, options);
  const { changes, problems, pending, needsReset } = compared;
  const failure = validationFailure(problems);
  if (changes.length === 0) return { desired, hasVariables, steps: [], problem: failure };
  const steps = [
    {
      name: '',
      changes: plannedChanges(changes, secretNames),
      restart: needsReset ? ('BMC' as const) : ('None' as const),
    },
  ];
  const firmware = compared.firmware ?? (await findManager(bmc, managerUuidOf(session), { signal }))?.firmwareVersion;
  const installed = firmware ?? target.bmc?.status?.firmwareVersion;
  const hold = versionHold(object, installed) ?? pendingHold(pending, settings);
  return { desired, hasVariables, steps, hold, problem: hold?.version === undefined ? failure : undefined };
}

const digestFor = ({ spec: { version } }: BMCSettings, resolved: Awaited<ReturnType<typeof resolveSettings>>): string =>
  digestOf('missing' in resolved ? { version } : { version, from: resolved.fingerprint });

/** Nothing can be compared, and so nothing counts as applied. */
const waiting = { name: '', changes: [], restart: 'None' } as const;

const managerUuidOf = ({ target }: SettingsSession): string | undefined => target.bmc?.spec?.bmcUUID;

function versionHold({ spec }: BMCSettings, installed: string | undefined): Hold | undefined {
  if (spec.version === '' || versionsMatch(installed ?? '', spec.version)) return undefined;
  return {
    reason: 'VersionUpgradePending',
    message: `the settings are for BMC firmware ${spec.version}, and ${installed ?? 'an unknown one'} is installed`,
    version: spec.version,
  };
}

function pendingHold(pending: readonly string[], settings: Readonly<Record<string, string>>): Hold | undefined {
  const foreign = pending.filter((name) => settings[name] === undefined);
  if (foreign.length === 0) return undefined;
  return {
    reason: 'PendingSettingsFound',
    message: `${changesOfOthers(foreign)} for a restart of the BMC`,
  };
}

async function apply(session: SettingsSession): Promise<Accepted | undefined> {
  const { object, bmc, context, signal } = session;
  const resolved = await resolveSettings(object, context.client);
  if ('missing' in resolved) throw new StaleDecision(resolved.missing.message);
  const { settings, secretNames } = resolved;
  const managerUuid = managerUuidOf(session);
  const { changes } = await readBmcSettings(bmc, managerUuid, settings, { signal, secretNames });
  if (changes.length === 0) return undefined;
  try {
    await writeBmcSettings(bmc, managerUuid, settings, changes);
  } catch (error) {
    throw secretNames.size > 0 && error instanceof RedfishError ? withoutAnswer(error) : error;
  }
  return {};
}

/** The explanation of a BMC may repeat a value that it was sent. */
const withoutAnswer = ({ code, status, retryAfterMs, messageIds }: RedfishError): RedfishError =>
  new RedfishError({
    code,
    status,
    retryAfterMs,
    messageIds,
    message: `it rejects settings of which some are secret (${status ?? code}${messageIds.length > 0 ? `, ${messageIds[0] ?? ''}` : ''})`,
  });

async function setReference(
  { spec }: BMCSettings,
  { client, caches }: OperatorContext,
  bmcSettingsRef: { readonly name: string } | null,
): Promise<void> {
  const bmc = caches.bmcs.get(spec.BMCRef.name);
  if (bmc === undefined) return;
  const { name, resourceVersion } = bmc.metadata;
  await client.mergePatch(BMC, { name }, { spec: { bmcSettingsRef } }, { resourceVersion });
}
