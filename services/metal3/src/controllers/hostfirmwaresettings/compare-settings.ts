import type { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import { isPasswordName, settingProblem } from '../../firmware/setting-problem.ts';
import { type FirmwareSettings, NotSupported } from '../../provisioner/node-services.ts';
import type { Comparison } from '../../siblings/firmware-status.ts';

type Wanted = HostFirmwareSettings['spec']['settings'];

/** Without passwords, which are in no status and in no schema. */
export const withoutPasswords = (found: FirmwareSettings): FirmwareSettings => ({
  ...found,
  settings: withoutPasswordNames(found.settings),
  schema: withoutPasswordNames(found.schema),
});

const withoutPasswordNames = <T>(values: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !isPasswordName(name)));

/** Compares desired settings with those in use. All of them are validated as soon as one differs. */
export function compareSettings(wanted: Wanted, found: FirmwareSettings | NotSupported): Comparison {
  const entries = Object.entries(wanted);
  if (found instanceof NotSupported)
    return { isChanged: entries.length > 0, problems: entries.length > 0 ? [found.message] : [] };
  const isChanged = entries.some(([name, value]) => ownValue(found.settings, name) !== String(value));
  return { isChanged, problems: isChanged ? entries.flatMap((entry) => problemOf(entry, found)) : [] };
}

function problemOf([name, value]: [string, string | number], { settings, schema }: FirmwareSettings): string[] {
  if (!isPasswordName(name) && ownValue(settings, name) === undefined)
    return [`setting ${name} does not exist on this machine: remove it`];
  const problem = settingProblem(name, value, schema);
  return problem === undefined ? [] : [problem];
}

const ownValue = (settings: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(settings, name) ? settings[name] : undefined;
