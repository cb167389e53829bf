import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { DataImage } from '@metal/api/metal3/data-image.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import type { Metal3Context } from '../../context.ts';
import { isOwnedBy } from '../../objects/owner-references.ts';
import { type HostBlocker, hostBlockerOf } from '../../siblings/host-blocker.ts';

export type DataImagePhase = 'Present';
export type DataImageAction = 'makeOwner' | 'readDrive';

export interface DataImageFacts {
  readonly host: BareMetalHost | undefined;
  readonly blocker: HostBlocker | undefined;
  readonly isOwned: boolean;
  /** What the drive was found with; unread: nothing recent. */
  readonly drive: 'unread' | 'attached' | 'empty';
  /** Milliseconds until the drive is read again. */
  readonly nextReadInMs: number;
  /** Of the last reading, while it is waited for. */
  readonly failure: string | undefined;
}

export interface DataImageMemory {
  last: { readonly at: number; readonly result: boolean | { readonly failure: string } } | undefined;
}

const attachedMs = seconds(60);
const failedMs = seconds(30);

export function readDataImageFacts(
  object: DataImage,
  { caches }: Metal3Context,
  { now, memory }: { readonly now: number; readonly memory: Readonly<DataImageMemory> },
): DataImageFacts {
  const host = caches.hosts.get(object.metadata);
  return {
    host,
    blocker: hostBlockerOf(object.metadata.name, host),
    isOwned: host !== undefined && isOwnedBy(object, host),
    ...driveOf(memory, now),
  };
}

function driveOf({ last }: Readonly<DataImageMemory>, now: number) {
  const unread = { drive: 'unread', nextReadInMs: 0, failure: undefined } as const;
  if (last === undefined) return unread;
  const { at, result } = last;
  if (result === false) return { ...unread, drive: 'empty' } as const;
  const nextReadInMs = at + (result === true ? attachedMs : failedMs) - now;
  if (nextReadInMs <= 0) return unread;
  return result === true
    ? ({ drive: 'attached', nextReadInMs, failure: undefined } as const)
    : ({ drive: 'unread', nextReadInMs, failure: result.failure } as const);
}
