import type { AdmissionCheck, AdmissionRule } from '@metal/kube/kinds/admission.ts';
import { BareMetalHost } from '../bare-metal-host.ts';
import { inspectAnnotation } from '../metal3-contract.ts';
import { annotationChecks } from './annotation-checks.ts';
import {
  bmcAddressChecks,
  bmcAddressVariables,
  isFastDriver,
  isMacDriver,
  isSecureBootDriver,
  lacks,
} from './bmc-address-checks.ts';
import { annotation, annotationVariables, isCreated, listOf, memberOr, only, specChanges } from './cel-text.ts';
import { imageChecks } from './image-checks.ts';
import { networkInterfaceChecks, networkInterfaceVariables } from './network-interface-checks.ts';
import { raidChecks, raidVariables } from './raid-checks.ts';

const spec = 'object.spec';
const octet = '[0-9a-fA-F]{2}';
/** Ethernet, EUI-64, or IP over InfiniBand. */
const isMac = `variables.bootMac.matches('^${octet}((:${octet}){5}|(:${octet}){7}|(:${octet}){19})$')`;

const ownSecrets: AdmissionCheck[] = ['userData', 'networkData', 'metaData'].map((member) => ({
  holds: `!has(${spec}.${member}) || !has(${spec}.${member}.namespace) || ${spec}.${member}.namespace == '' || ${spec}.${member}.namespace == object.metadata.namespace`,
  message: `'spec.${member}.namespace: expected ' + object.metadata.namespace + ', the namespace of the host, found ' + ${spec}.${member}.namespace + ': Secrets of other namespaces are not read'`,
}));

const needsMac = `(variables.bmcFamily != '' && (variables.isInspectionDisabled || variables.bmcFamily in ${listOf(isMacDriver)}))`;

/** Rules that an annotation can violate too. */
const inspectionChecks: AdmissionCheck[] = [
  {
    holds: `variables.bootMac != '' || !${needsMac}`,
    message: `'spec.bootMACAddress: expected the MAC address of the interface that the machine boots from, because ' + (variables.isInspectionDisabled ? 'the inspection is disabled' : 'the BMC type ' + variables.bmcFamily + ' needs it') + ': set it'`,
  },
  {
    holds: `variables.inspectionMode == '' || ${annotation(inspectAnnotation)} == '' || (variables.inspectionMode == 'disabled') == (${annotation(inspectAnnotation)} == 'disabled')`,
    message: `'spec.inspectionMode: expected disabled, as annotation ${inspectAnnotation} says, found ' + variables.inspectionMode + ': remove the annotation'`,
  },
];

const hostChecks: AdmissionCheck[] = [
  ...bmcAddressChecks,
  {
    holds: `!has(${spec}.firmware)`,
    message: `'spec.firmware: expected none: use a HostFirmwareSettings object with the name of the host'`,
  },
  ...ownSecrets,
  ...raidChecks,
  {
    holds: `variables.bootMac == '' || ${isMac}`,
    message: `'spec.bootMACAddress: expected a MAC address such as aa:bb:cc:dd:ee:ff, found "' + variables.bootMac + '"'`,
  },
  {
    holds: `${memberOr(spec, 'bootMode', `''`)} != 'UEFISecureBoot' || !${lacks(isSecureBootDriver)}`,
    message: `'spec.bootMode: the BMC type ' + variables.bmcFamily + ' cannot enable Secure Boot: use UEFI or legacy, or an address of Redfish'`,
  },
  {
    holds: `variables.inspectionMode != 'fast' || !${lacks(isFastDriver)}`,
    message: `'spec.inspectionMode: the BMC type ' + variables.bmcFamily + ' cannot inspect without a ramdisk: use agent, or an address of Redfish'`,
  },
  {
    holds: `!has(${spec}.rootDeviceHints) || !has(${spec}.rootDeviceHints.deviceName) || ${spec}.rootDeviceHints.deviceName.matches('^(|/dev/(disk/by-path/)?[^/]+)$')`,
    message: `'spec.rootDeviceHints.deviceName: expected /dev/NAME or /dev/disk/by-path/NAME, found "' + ${spec}.rootDeviceHints.deviceName + '"'`,
  },
  ...imageChecks(spec),
  {
    holds: `!${memberOr(spec, 'disablePowerOff', 'false')} || ${spec}.online`,
    message: `'spec.online: expected true, because spec.disablePowerOff is true: the host cannot be powered off'`,
  },
  ...networkInterfaceChecks,
];

const uuid = '^[0-9a-f]{8}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-|[0-9a-f]{12})[0-9a-f]{12}$';
const nameCheck: AdmissionCheck = {
  holds: `!object.metadata.name.matches('${uuid}')`,
  message: `'metadata.name: expected a name that is not a UUID, because Ironic takes a UUID for one of its nodes, found ' + object.metadata.name`,
};

const updateChecks: AdmissionCheck[] = [
  {
    holds: `variables.oldBmcAddress == '' || variables.oldBmcAddress == variables.bmcAddress || variables.oldStatus == 'detached' || variables.oldState == 'registering'`,
    message: `'spec.bmc.address: expected "' + variables.oldBmcAddress + '", found "' + variables.bmcAddress + '": the address can be changed only while the host is registering or detached: set annotation baremetalhost.metal3.io/detached and wait for status.operationalStatus detached'`,
  },
  {
    holds: `variables.oldBootMac == '' || variables.oldBootMac.lowerAscii() == variables.bootMac.lowerAscii()`,
    message: `'spec.bootMACAddress: expected ' + variables.oldBootMac + ', found "' + variables.bootMac + '": it cannot be changed once it is set: delete the host and create it again'`,
  },
  {
    holds: `!${memberOr(spec, 'externallyProvisioned', 'false')} || ${memberOr('oldObject.spec', 'externallyProvisioned', 'false')} || variables.oldState in ['available', 'ready']`,
    message: `'spec.externallyProvisioned: it can be set to true only while status.provisioning.state is available, found "' + variables.oldState + '"'`,
  },
];

const ofOldHost = (expression: string): string => `${isCreated} ? '' : (${expression})`;

export const bareMetalHostRule: AdmissionRule = {
  name: 'metal-operator-baremetalhost',
  kind: BareMetalHost,
  operations: ['CREATE', 'UPDATE'],
  action: 'Deny',
  variables: {
    specChanges,
    ...annotationVariables,
    ...bmcAddressVariables,
    ...raidVariables,
    ...networkInterfaceVariables,
    bootMac: memberOr(spec, 'bootMACAddress', `''`),
    inspectionMode: memberOr(spec, 'inspectionMode', `''`),
    isInspectionDisabled: `variables.inspectionMode == 'disabled' || ${annotation(inspectAnnotation)} == 'disabled'`,
    changesInspection: `variables.specChanges || ('${inspectAnnotation}' in variables.annotations && !('${inspectAnnotation}' in variables.oldAnnotations))`,
    oldBmcAddress: ofOldHost(`has(oldObject.spec.bmc) ? oldObject.spec.bmc.address : ''`),
    oldBootMac: ofOldHost(memberOr('oldObject.spec', 'bootMACAddress', `''`)),
    oldStatus: ofOldHost(`has(oldObject.status) ? oldObject.status.operationalStatus : ''`),
    oldState: ofOldHost(`has(oldObject.status) ? oldObject.status.provisioning.state : ''`),
  },
  checks: [
    ...only('variables.specChanges', hostChecks),
    ...only('variables.changesInspection', inspectionChecks),
    ...annotationChecks,
    ...only(isCreated, [nameCheck]),
    ...only(`!(${isCreated}) && variables.specChanges`, updateChecks),
  ],
};
