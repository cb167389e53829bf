import type { AdmissionRule } from '@metal/kube/kinds/admission.ts';
import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import { BIOSSettings } from './v1alpha1/bios-settings.ts';
import { BIOSVersion } from './v1alpha1/bios-version.ts';
import { BMC } from './v1alpha1/bmc.ts';
import { BMCSecret } from './v1alpha1/bmc-secret.ts';
import { BMCSettings } from './v1alpha1/bmc-settings.ts';
import { BMCVersion } from './v1alpha1/bmc-version.ts';
import { FirmwareVersion } from './v1alpha1/firmware-version.ts';
import { Endpoint } from './v1alpha1/endpoint.ts';
import { MACAddressIndex } from './v1alpha1/mac-address-index.ts';
import { ServerClaim } from './v1alpha1/server-claim.ts';
import { Server } from './v1alpha1/server.ts';
import { operationAnnotation, operations } from './wire/contract.ts';

/** In the notation of the index: twelve upper-case hex digits. Empty if no address is set. */
const wantedMacAddress =
  `has(object.spec) && has(object.spec.macAddress) ? object.spec.macAddress` +
  `.replace(':', '').replace('-', '').replace('.', '').upperAscii() : ''`;

/** Only requests that change the spec: labels and finalizers of an object that already violates the rule stay writable. */
const specChanges = `request.operation == 'CREATE' || object.spec != oldObject.spec`;

const unset = (field: string): string => `(!has(${field}) || !has(${field}.name) || ${field}.name == '')`;

const protocols = `['Redfish', 'RedfishLocal', 'RedfishWithRegistryPatch']`;
const protocolHint = (protocol: string) => ({
  holds: `${protocol}.name in ${protocols} && ${protocol}.port > 0 && ${protocol}.port < 65536`,
  message: `'protocol "' + ${protocol}.name + '" on port ' + string(${protocol}.port) + ' is not supported: expected protocol Redfish and a port from 1 to 65535'`,
});

const hasOperation = (object: string, operation: string): string =>
  `(has(${object}.metadata.annotations) && '${operationAnnotation}' in ${object}.metadata.annotations && ` +
  `${object}.metadata.annotations['${operationAnnotation}'] == '${operation}')`;

/** A change was sent to the BMC, and its result is not known yet. */
const isUnderWay =
  `has(oldObject.status) && has(oldObject.status.state) && oldObject.status.state == 'InProgress' && ` +
  `has(oldObject.status.attempt) && has(oldObject.status.attempt.sendTime)`;

/** Metadata, with its annotations for operations, stays writable. */
const updateInProgress = (kind: DefinedKind): AdmissionRule[] => [
  {
    name: `metal-operator-${kind.singular}-in-progress`,
    kind,
    operations: ['UPDATE'],
    action: 'Deny',
    denyReason: 'Forbidden',
    when: 'object.spec != oldObject.spec',
    variables: {
      isUnderWay,
      isAllowed: [operations.allowInProgressUpdate, operations.allowInProgressDelete]
        .map((operation) => hasOperation('object', operation))
        .join(' || '),
    },
    checks: [
      {
        holds: '!variables.isUnderWay || variables.isAllowed',
        message: `'cannot change the spec while the BMC carries out the change: wait until status.state is no longer InProgress, or set annotation ${operationAnnotation} to ${operations.allowInProgressUpdate}'`,
      },
    ],
  },
  {
    name: `metal-operator-${kind.singular}-deletion`,
    kind,
    operations: ['DELETE'],
    action: 'Deny',
    denyReason: 'Forbidden',
    variables: { isUnderWay, isAllowed: hasOperation('oldObject', operations.allowInProgressDelete) },
    checks: [
      {
        holds: '!variables.isUnderWay || variables.isAllowed',
        message: `'cannot delete ${kind.kind} ' + oldObject.metadata.name + ' while the BMC carries out the change: wait until status.state is no longer InProgress, or set annotation ${operationAnnotation} to ${operations.allowInProgressDelete}'`,
      },
    ],
  },
];

/** Checks of the API server beyond the schemas of the kinds: rejections first, then warnings. */
export const admissionRules: readonly AdmissionRule[] = [
  {
    name: 'metal-operator-server-deletion',
    kind: Server,
    operations: ['DELETE'],
    action: 'Deny',
    denyReason: 'Forbidden',
    variables: {
      inMaintenance: `has(oldObject.status) && has(oldObject.status.state) && oldObject.status.state == 'Maintenance'`,
      isAllowed:
        `has(oldObject.metadata.annotations) && '${operationAnnotation}' in oldObject.metadata.annotations && ` +
        `oldObject.metadata.annotations['${operationAnnotation}'] == '${operations.allowInProgressDelete}'`,
    },
    checks: [
      {
        holds: '!variables.inMaintenance || variables.isAllowed',
        message: `'cannot delete Server ' + oldObject.metadata.name + ' in state Maintenance: end the ServerMaintenance first, or set annotation ${operationAnnotation} to ${operations.allowInProgressDelete}'`,
      },
    ],
  },
  {
    name: 'metal-operator-bmcsecret-immutability',
    kind: BMCSecret,
    operations: ['UPDATE'],
    action: 'Deny',
    when: 'has(oldObject.immutable) && oldObject.immutable',
    checks: [
      {
        holds: 'has(object.data) == has(oldObject.data) && (!has(object.data) || object.data == oldObject.data)',
        message: `'data field is immutable and cannot be updated'`,
      },
    ],
  },
  {
    name: 'metal-operator-endpoint-mac-address',
    kind: Endpoint,
    operations: ['CREATE', 'UPDATE'],
    action: 'Deny',
    when: specChanges,
    against: MACAddressIndex,
    variables: { wanted: wantedMacAddress },
    checks: [
      {
        holds:
          '!(variables.wanted in params.spec.endpoints) || params.spec.endpoints[variables.wanted] == object.metadata.name',
        message:
          `'spec.macAddress: Duplicate value: "' + object.spec.macAddress + '": Endpoint ' + params.spec.endpoints[variables.wanted] + ` +
          `' has it already; if that Endpoint was deleted or changed, check that the operator is running and try again'`,
      },
    ],
  },
  {
    name: 'metal-operator-server-advice',
    kind: Server,
    operations: ['CREATE', 'UPDATE'],
    action: 'Warn',
    when: specChanges,
    checks: [
      {
        holds: `!has(object.spec.bmc) || ${unset('object.spec.bmcRef')}`,
        message: `'spec.bmc is ignored because spec.bmcRef is set: set only one of the two'`,
      },
      {
        holds: `has(object.spec.bmc) || !${unset('object.spec.bmcRef')}`,
        message: `'neither spec.bmcRef nor spec.bmc is set: the server is not managed until one of them is set'`,
      },
      {
        ...protocolHint('object.spec.bmc.protocol'),
        holds: `!has(object.spec.bmc) || (${protocolHint('object.spec.bmc.protocol').holds})`,
      },
    ],
  },
  {
    name: 'metal-operator-bmc-advice',
    kind: BMC,
    operations: ['CREATE', 'UPDATE'],
    action: 'Warn',
    when: specChanges,
    checks: [protocolHint('object.spec.protocol')],
  },
  {
    name: 'metal-operator-claim-advice',
    kind: ServerClaim,
    operations: ['CREATE'],
    action: 'Warn',
    checks: [
      {
        holds: `has(object.spec.serverSelector) || !${unset('object.spec.serverRef')}`,
        message: `'neither spec.serverRef nor spec.serverSelector is set: the claim is bound to any available server'`,
      },
    ],
  },
  ...[BIOSSettings, BIOSVersion, BMCSettings, BMCVersion, FirmwareVersion].flatMap(updateInProgress),
];
