import { isDeepStrictEqual } from 'node:util';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { inspectAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { detachRequest, rebootRequest } from '../../host/request-annotations.ts';
import { type RootDeviceHints, profileHints } from '../../image/root-device.ts';
import { hasRootVolume, isRaidDirty, raidTarget } from '../../raid/raid-target.ts';
import { deploymentOf } from './deployment.ts';
import type { HostPass } from './memory.ts';
import { countedAttempts } from './status-changes.ts';
import type { HostFacts, HostState } from './types.ts';

/** Facts of other objects about a host: its Secret, its firmware objects, its DataImage. */
export interface HostSurroundings {
  readonly credentials: 'present' | 'unusable';
  readonly firmware: HostFacts['firmware'];
  readonly hasServicing: boolean;
  readonly hasServicingSpec: boolean;
  readonly hasDataImage: boolean;
  /** Attempts to provision an image; 0: no limit. */
  readonly retryLimit: number;
}

interface Moment {
  readonly state: HostState;
  readonly pass: HostPass;
}

export function readHostFacts(host: BareMetalHost, around: HostSurroundings, { state, pass }: Moment): HostFacts {
  const { metadata, spec } = host;
  const { status } = pass;
  const annotations = metadata.annotations ?? {};
  const isDeleting = metadata.deletionTimestamp !== undefined;
  return {
    status,
    node: pass.node,
    state,
    isDeleting,
    isReleased: pass.isReleased,
    isManaged: (spec.bmc?.address ?? '') !== '' || (spec.bmc?.credentialsName ?? '') !== '',
    credentials: around.credentials === 'unusable' && isDeleting ? 'absent' : around.credentials,
    operationalStatus: status.operationalStatus,
    errorType: status.errorType,
    errorCount: status.errorCount,
    outcomes: pass.outcomes[state] ?? {},
    capacity: pass.capacity,
    detach: detachRequest(annotations),
    isOnline: spec.online,
    mayPowerOff: spec.disablePowerOff !== true,
    isPoweredOn: status.poweredOn,
    reboot: rebootRequest(annotations),
    forcedReboot: rebootRequest(annotations, true),
    isExternallyProvisioned: spec.externallyProvisioned === true,
    inspection: inspectionOf(host),
    hasNewSettings: hasNewSettings(spec, status),
    firmware: around.firmware,
    hasServicing: around.hasServicing,
    hasServicingSpec: around.hasServicingSpec,
    hasDataImage: around.hasDataImage,
    deployment: deploymentOf({ spec, status }),
    isBelowRetryLimit:
      around.retryLimit === 0 || countedAttempts(status, spec).provisioningFailCount < around.retryLimit,
  };
}

function inspectionOf({ metadata, spec }: BareMetalHost): HostFacts['inspection'] {
  const annotation = metadata.annotations?.[inspectAnnotation];
  if (spec.inspectionMode === 'disabled' || annotation === 'disabled') return 'disabled';
  return annotation === '' ? 'requested' : 'wanted';
}

/** The disk for the image: none if a software RAID volume is it, else by the hints of the host, else by its profile. */
export function wantedHints(spec: BareMetalHost['spec'], profile: string): RootDeviceHints | undefined {
  if (hasRootVolume(spec.raid)) return undefined;
  return spec.rootDeviceHints ?? profileHints[profile];
}

function hasNewSettings(
  spec: BareMetalHost['spec'],
  { provisioning, hardwareProfile }: NonNullable<BareMetalHost['status']>,
): boolean {
  const hints = wantedHints(spec, hardwareProfile ?? 'unknown');
  return (
    isRaidDirty(raidTarget(spec.raid, provisioning.raid), provisioning.raid) ||
    !isDeepStrictEqual(hints, provisioning.rootDeviceHints)
  );
}
