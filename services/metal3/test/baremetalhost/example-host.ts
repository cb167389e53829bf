import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { BareMetalHostStatus } from '@metal/api/metal3/bare-metal-host-status.ts';
import { newStatus } from '../../src/controllers/baremetalhost/status-changes.ts';
import type { HostState } from '../../src/controllers/baremetalhost/types.ts';

const at = '2026-01-01T00:00:00Z';

/** A registered host that nothing is wrong with. */
export function hostIn(state: HostState, changes: HostChanges = {}): BareMetalHost {
  const { spec, status, provisioning, annotations = {}, isDeleting = false } = changes;
  return {
    apiVersion: 'metal3.io/v1alpha1',
    kind: 'BareMetalHost',
    metadata: { name: 'h', namespace: 'n', uid: 'u', annotations, ...(isDeleting ? { deletionTimestamp: at } : {}) },
    spec: {
      online: true,
      automatedCleaningMode: 'metadata',
      bmc: { address: 'redfish://192.0.2.7/redfish/v1/Systems/1', credentialsName: 'c' },
      ...spec,
    },
    status: {
      ...newStatus,
      operationalStatus: 'OK',
      poweredOn: true,
      hardwareProfile: 'unknown',
      goodCredentials: known,
      triedCredentials: known,
      ...status,
      provisioning: { state, ID: 'i', bootMode: 'UEFI', rootDeviceHints: { deviceName: '/dev/sda' }, ...provisioning },
    },
  };
}

const known = { credentials: { name: 'c', namespace: 'n' }, credentialsVersion: '1' };

export interface HostChanges {
  readonly spec?: Partial<BareMetalHost['spec']>;
  readonly status?: Partial<BareMetalHostStatus>;
  readonly provisioning?: Partial<BareMetalHostStatus['provisioning']>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly isDeleting?: boolean;
}
