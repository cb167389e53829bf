import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import { BareMetalHost } from './bare-metal-host.ts';
import { BareMetalSwitch } from './bare-metal-switch.ts';
import { BMCEventSubscription } from './bmc-event-subscription.ts';
import { DataImage } from './data-image.ts';
import { FirmwareSchema } from './firmware-schema.ts';
import { HardwareData } from './hardware-data.ts';
import { HostClaim } from './host-claim.ts';
import { HostDeployPolicy } from './host-deploy-policy.ts';
import { HostFirmwareComponents } from './host-firmware-components.ts';
import { HostFirmwareSettings } from './host-firmware-settings.ts';
import { HostNetworkAttachment } from './host-network-attachment.ts';
import { HostUpdatePolicy } from './host-update-policy.ts';
import { PreprovisioningImage } from './preprovisioning-image.ts';

/** Kinds that exist so that manifests can be applied: no controller reads them. */
export const unusedMetal3Kinds: readonly DefinedKind[] = [
  BareMetalSwitch,
  HostClaim,
  HostDeployPolicy,
  HostNetworkAttachment,
];

/** The kinds of metal3.io/v1alpha1. They are installed separately, because a cluster may have those of another operator. */
export const metal3Kinds: readonly DefinedKind[] = [
  BareMetalHost,
  BareMetalSwitch,
  BMCEventSubscription,
  DataImage,
  FirmwareSchema,
  HardwareData,
  HostClaim,
  HostDeployPolicy,
  HostFirmwareComponents,
  HostFirmwareSettings,
  HostNetworkAttachment,
  HostUpdatePolicy,
  PreprovisioningImage,
];
