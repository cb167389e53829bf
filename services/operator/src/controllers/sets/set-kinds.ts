import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BIOSSettingsSet } from '@metal/api/v1alpha1/bios-settings-set.ts';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BIOSVersionSet } from '@metal/api/v1alpha1/bios-version-set.ts';
import { BMCSettings } from '@metal/api/v1alpha1/bmc-settings.ts';
import { BMCSettingsSet } from '@metal/api/v1alpha1/bmc-settings-set.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { BMCVersionSet } from '@metal/api/v1alpha1/bmc-version-set.ts';
import { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import { FirmwareVersionSet } from '@metal/api/v1alpha1/firmware-version-set.ts';
import {
  biosSettingsFinalizer,
  biosSettingsSetFinalizer,
  biosVersionFinalizer,
  biosVersionSetFinalizer,
  bmcSettingsFinalizer,
  bmcSettingsSetFinalizer,
  bmcVersionFinalizer,
  bmcVersionSetFinalizer,
  firmwareVersionFinalizer,
  firmwareVersionSetFinalizer,
} from '@metal/api/wire/contract.ts';
import type { Update } from '../../rollouts/update.ts';
import type { SetKind } from './set-kind.ts';

const isInProgress = ({ status }: Update): boolean => status?.state === 'InProgress';
/** A target has one object of the kind. */
const wholeTarget = (): string => '';

export const biosSettingsSets: SetKind<BIOSSettingsSet, BIOSSettings> = {
  name: 'biossettingsset',
  kind: BIOSSettingsSet,
  childKind: BIOSSettings,
  finalizer: biosSettingsSetFinalizer,
  childFinalizer: biosSettingsFinalizer,
  targetKind: 'Server',
  targetField: 'serverRef',
  childPrefix: '',
  sets: (caches) => caches.biosSettingsSets,
  children: (caches) => caches.biosSettings,
  selectorOf: ({ spec }) => spec.serverSelector,
  templateOf: ({ spec }) => spec.biosSettingsTemplate,
  targetOf: ({ spec }) => spec.serverRef?.name,
  subjectOf: wholeTarget,
  isLocked: isInProgress,
};

export const biosVersionSets: SetKind<BIOSVersionSet, BIOSVersion> = {
  name: 'biosversionset',
  kind: BIOSVersionSet,
  childKind: BIOSVersion,
  finalizer: biosVersionSetFinalizer,
  childFinalizer: biosVersionFinalizer,
  targetKind: 'Server',
  targetField: 'serverRef',
  childPrefix: '',
  sets: (caches) => caches.biosVersionSets,
  children: (caches) => caches.biosVersions,
  selectorOf: ({ spec }) => spec.serverSelector,
  templateOf: ({ spec }) => spec.biosVersionTemplate,
  targetOf: ({ spec }) => spec.serverRef?.name,
  subjectOf: wholeTarget,
  isLocked: isInProgress,
};

export const bmcSettingsSets: SetKind<BMCSettingsSet, BMCSettings> = {
  name: 'bmcsettingsset',
  kind: BMCSettingsSet,
  childKind: BMCSettings,
  finalizer: bmcSettingsSetFinalizer,
  childFinalizer: bmcSettingsFinalizer,
  targetKind: 'BMC',
  targetField: 'BMCRef',
  childPrefix: '',
  sets: (caches) => caches.bmcSettingsSets,
  children: (caches) => caches.bmcSettings,
  selectorOf: ({ spec }) => spec.bmcSelector,
  templateOf: ({ spec }) => spec.bmcSettingsTemplate,
  targetOf: ({ spec }) => spec.BMCRef.name,
  subjectOf: wholeTarget,
  isLocked: isInProgress,
};

export const bmcVersionSets: SetKind<BMCVersionSet, BMCVersion> = {
  name: 'bmcversionset',
  kind: BMCVersionSet,
  childKind: BMCVersion,
  finalizer: bmcVersionSetFinalizer,
  childFinalizer: bmcVersionFinalizer,
  targetKind: 'BMC',
  targetField: 'bmcRef',
  // v0.7.0 completed it with random characters, and could create an object twice.
  childPrefix: 'bmc-version-set-',
  sets: (caches) => caches.bmcVersionSets,
  children: (caches) => caches.bmcVersions,
  selectorOf: ({ spec }) => spec.bmcSelector,
  templateOf: ({ spec }) => spec.bmcVersionTemplate,
  targetOf: ({ spec }) => spec.bmcRef?.name,
  subjectOf: wholeTarget,
  isLocked: (child) => isInProgress(child) && child.status?.upgradeTask !== undefined,
};

export const firmwareVersionSets: SetKind<FirmwareVersionSet, FirmwareVersion> = {
  name: 'firmwareversionset',
  kind: FirmwareVersionSet,
  childKind: FirmwareVersion,
  finalizer: firmwareVersionSetFinalizer,
  childFinalizer: firmwareVersionFinalizer,
  targetKind: 'Server',
  targetField: 'serverRef',
  childPrefix: '',
  sets: (caches) => caches.firmwareVersionSets,
  children: (caches) => caches.firmwareVersions,
  selectorOf: ({ spec }) => spec.serverSelector,
  templateOf: ({ spec }) => spec.firmwareVersionTemplate,
  targetOf: ({ spec }) => spec.serverRef.name,
  // Several sets may each have a component of the same server.
  subjectOf: (spec) => ('component' in spec ? JSON.stringify(spec.component) : ''),
  isLocked: isInProgress,
};
