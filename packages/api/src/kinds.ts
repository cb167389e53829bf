import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import { BIOSAttributeRegistry } from './v1alpha1/bios-attribute-registry.ts';
import { BIOSSettings } from './v1alpha1/bios-settings.ts';
import { BIOSSettingsSet } from './v1alpha1/bios-settings-set.ts';
import { BIOSVersion } from './v1alpha1/bios-version.ts';
import { BIOSVersionSet } from './v1alpha1/bios-version-set.ts';
import { BMC } from './v1alpha1/bmc.ts';
import { BMCSecret } from './v1alpha1/bmc-secret.ts';
import { BMCSettings } from './v1alpha1/bmc-settings.ts';
import { BMCSettingsSet } from './v1alpha1/bmc-settings-set.ts';
import { BMCUser } from './v1alpha1/bmc-user.ts';
import { BMCVersion } from './v1alpha1/bmc-version.ts';
import { BMCVersionSet } from './v1alpha1/bmc-version-set.ts';
import { Endpoint } from './v1alpha1/endpoint.ts';
import { ErasureReport } from './v1alpha1/erasure-report.ts';
import { FirmwareVersion } from './v1alpha1/firmware-version.ts';
import { FirmwareVersionSet } from './v1alpha1/firmware-version-set.ts';
import { HTTPBootConfig } from './v1alpha1/http-boot-config.ts';
import { IPXEBootConfig } from './v1alpha1/ipxe-boot-config.ts';
import { MACAddressIndex } from './v1alpha1/mac-address-index.ts';
import { Server } from './v1alpha1/server.ts';
import { ServerBootConfiguration } from './v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from './v1alpha1/server-claim.ts';
import { ServerInventory } from './v1alpha1/server-inventory.ts';
import { ServerMaintenance } from './v1alpha1/server-maintenance.ts';
import { ServerReadinessRule } from './v1alpha1/server-readiness-rule.ts';

/** Every kind of the product, in the order of their names. */
export const kinds: readonly DefinedKind[] = [
  BIOSAttributeRegistry,
  BIOSSettings,
  BIOSSettingsSet,
  BIOSVersion,
  BIOSVersionSet,
  BMC,
  BMCSecret,
  BMCSettings,
  BMCSettingsSet,
  BMCUser,
  BMCVersion,
  BMCVersionSet,
  Endpoint,
  ErasureReport,
  FirmwareVersion,
  FirmwareVersionSet,
  HTTPBootConfig,
  IPXEBootConfig,
  MACAddressIndex,
  Server,
  ServerBootConfiguration,
  ServerClaim,
  ServerInventory,
  ServerMaintenance,
  ServerReadinessRule,
];
