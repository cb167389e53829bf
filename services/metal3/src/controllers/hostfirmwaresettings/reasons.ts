import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';
import { hostBlockerReasons } from '../../siblings/host-blocker.ts';

const nothing = 'Nothing; it goes on by itself.';

/** Reasons of HostFirmwareSettings in log lines and events. The conditions have those of Metal3. */
export const settingsReasons = {
  ...hostBlockerReasons,
  SettingsUnreadable: {
    meaning: 'The BIOS settings of the host cannot be read at present.',
    remedy: 'Nothing if the host is being registered; else look at its BMC. It is tried again every 30 s.',
    weight: 'waiting',
    actor: 'operator',
  },
  ReadingSettings: {
    meaning: 'The BIOS settings of the host are read.',
    remedy: nothing,
    weight: 'working',
    actor: 'operator',
  },
  SharingSchema: {
    meaning: 'The FirmwareSchema of the settings is created, or shared with that of an equal machine.',
    remedy: nothing,
    weight: 'working',
    actor: 'operator',
  },
  ValidationFailed: {
    meaning: 'A desired BIOS setting cannot be set; the message says which and why. None of the settings is changed.',
    remedy: 'Correct or remove the setting. The FirmwareSchema that the status names has the values that are possible.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit hostfirmwaresettings -n {namespace} {name}',
  },
  SettingsInvalid: {
    meaning: 'Desired BIOS settings cannot be set; the condition Valid has the first of them.',
    remedy: 'Correct or remove them.',
    weight: 'waiting',
    actor: 'person',
    command: 'kubectl edit hostfirmwaresettings -n {namespace} {name}',
  },
  SettingsChanged: {
    meaning: 'Desired BIOS settings differ from those in use; they are changed when the host is prepared or serviced.',
    remedy: nothing,
    weight: 'working',
    actor: 'operator',
  },
  SettingsInUse: {
    meaning: 'The desired BIOS settings are in use.',
    remedy: 'Nothing.',
    weight: 'ok',
    actor: 'operator',
  },
} as const satisfies ReasonCatalogue;

export type SettingsReason = keyof typeof settingsReasons;
