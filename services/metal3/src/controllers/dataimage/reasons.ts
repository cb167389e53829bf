import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';
import { hostBlockerReasons } from '../../siblings/host-blocker.ts';

const nothing = 'Nothing; it goes on by itself.';

/** Reasons of DataImages in log lines and events. Their status is that of the virtual drive. */
export const dataImageReasons = {
  ...hostBlockerReasons,
  MakingOwner: {
    meaning: 'The host becomes the owner of the DataImage.',
    remedy: nothing,
    weight: 'working',
    actor: 'operator',
  },
  ReadingDrive: { meaning: 'The virtual drive is read.', remedy: nothing, weight: 'working', actor: 'operator' },
  StillAttached: {
    meaning: 'The DataImage is being deleted, and its image is still in the virtual drive.',
    remedy: 'Restart the host: the image is removed from the drive before the host is powered on.',
    weight: 'waiting',
    actor: 'person',
    command: 'kubectl annotate baremetalhost -n {namespace} {name} reboot.metal3.io=',
  },
  DriveUnreadable: {
    meaning: 'The DataImage is being deleted, and the virtual drive cannot be read at present.',
    remedy: 'Look at the BMC. It is tried again every 30 s.',
    weight: 'waiting',
    actor: 'operator',
  },
} as const satisfies ReasonCatalogue;

export type DataImageReason = keyof typeof dataImageReasons;
