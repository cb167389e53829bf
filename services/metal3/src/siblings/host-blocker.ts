import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { detachedAnnotation, pausedAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

/** Why nothing is asked of the back end for an object that belongs to a host. */
export interface HostBlocker {
  readonly reason: keyof typeof hostBlockerReasons;
  readonly message: string;
}

export const hostBlockerReasons = {
  HostMissing: {
    meaning: 'The BareMetalHost of the object does not exist.',
    remedy: 'Create the BareMetalHost, or delete the object.',
    weight: 'waiting',
    actor: 'person',
  },
  HostPaused: {
    meaning: 'The BareMetalHost of the object is paused by its annotation.',
    remedy: 'Remove the annotation baremetalhost.metal3.io/paused when the host may be worked on.',
    weight: 'waiting',
    actor: 'person',
  },
  HostDetached: {
    meaning: 'The BareMetalHost of the object is detached, so that it has no node.',
    remedy: 'Remove the annotation baremetalhost.metal3.io/detached when the host shall be managed again.',
    weight: 'waiting',
    actor: 'person',
  },
  HostUnmanaged: {
    meaning: 'The BareMetalHost of the object has no BMC, or is not registered yet.',
    remedy: 'Nothing if the host is new; else set its spec.bmc.',
    weight: 'waiting',
    actor: 'person',
  },
} as const satisfies ReasonCatalogue;

/** Undefined for a host whose node may be asked. */
export function hostBlockerOf(name: string, host: BareMetalHost | undefined): HostBlocker | undefined {
  const named = `BareMetalHost "${name}"`;
  if (host === undefined) return { reason: 'HostMissing', message: `${named} does not exist` };
  if (Object.hasOwn(host.metadata.annotations ?? {}, pausedAnnotation))
    return { reason: 'HostPaused', message: `${named} is paused by the annotation ${pausedAnnotation}` };
  if (isDetached(host)) return { reason: 'HostDetached', message: `${named} is detached` };
  const state = host.status?.provisioning.state ?? '';
  if (state === '' || state === 'unmanaged')
    return { reason: 'HostUnmanaged', message: `${named} has no BMC, or is not registered yet` };
  return undefined;
}

const isDetached = ({ metadata, status }: BareMetalHost): boolean =>
  Object.hasOwn(metadata.annotations ?? {}, detachedAnnotation) || status?.operationalStatus === 'detached';
