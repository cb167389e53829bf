import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';
import { hostBlockerReasons } from '../../siblings/host-blocker.ts';

const nothing = 'Nothing; it goes on by itself.';

/** Reasons of HostFirmwareComponents in log lines and events. The conditions have those of Metal3. */
export const componentsReasons = {
  ...hostBlockerReasons,
  ComponentsUnreadable: {
    meaning: 'The firmware versions of the host cannot be read at present.',
    remedy: 'Nothing if the host is being registered; else look at its BMC. It is tried again every 30 s.',
    weight: 'waiting',
    actor: 'operator',
  },
  ReadingComponents: {
    meaning: 'The firmware versions of the host are read.',
    remedy: nothing,
    weight: 'working',
    actor: 'operator',
  },
  ValidationFailed: {
    meaning: 'A desired firmware update cannot be made; the message says which and why. None of the updates is made.',
    remedy: 'Correct or remove the update.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit hostfirmwarecomponents -n {namespace} {name}',
  },
  UpdatesInvalid: {
    meaning: 'Desired firmware updates cannot be made; the condition Valid has the first of them.',
    remedy: 'Correct or remove them.',
    weight: 'waiting',
    actor: 'person',
    command: 'kubectl edit hostfirmwarecomponents -n {namespace} {name}',
  },
  UpdatesWanted: {
    meaning:
      'Desired firmware updates differ from those that were started; they start when the host is prepared or serviced.',
    remedy: nothing,
    weight: 'working',
    actor: 'operator',
  },
  UpdatesStarted: {
    meaning: 'The desired firmware updates were started.',
    remedy: 'Nothing.',
    weight: 'ok',
    actor: 'operator',
  },
} as const satisfies ReasonCatalogue;

export type ComponentsReason = keyof typeof componentsReasons;
