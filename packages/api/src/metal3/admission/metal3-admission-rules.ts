import type { AdmissionRule } from '@metal/kube/kinds/admission.ts';
import { BMCEventSubscription } from '../bmc-event-subscription.ts';
import { DataImage } from '../data-image.ts';
import { HostClaim } from '../host-claim.ts';
import { HostFirmwareComponents } from '../host-firmware-components.ts';
import { HostNetworkAttachment } from '../host-network-attachment.ts';
import { unusedMetal3Kinds } from '../metal3-kinds.ts';
import { rebootChecks } from './annotation-checks.ts';
import { bareMetalHostRule } from './bare-metal-host-rule.ts';
import { annotationVariables, isCreated, memberOr, only, specChanges } from './cel-text.ts';
import { expectedImageUrl, imageChecks, isImageUrl } from './image-checks.ts';

const denied = { operations: ['CREATE', 'UPDATE'], action: 'Deny' } as const;
const destination = 'variables.destination';

const eventSubscriptionRule: AdmissionRule = {
  name: 'metal-operator-bmceventsubscription',
  kind: BMCEventSubscription,
  ...denied,
  when: specChanges,
  variables: { destination: memberOr('object.spec', 'destination', `''`) },
  checks: [
    {
      holds: isCreated,
      message: `'spec: it cannot be changed: delete the subscription and create another one'`,
    },
    {
      holds: `${memberOr('object.spec', 'hostName', `''`)} != ''`,
      message: `'spec.hostName: expected the name of a BareMetalHost, found none'`,
    },
    {
      holds: `!has(object.spec.httpHeadersRef) || ${memberOr('object.spec.httpHeadersRef', 'namespace', `''`)} == object.metadata.namespace`,
      message: `'spec.httpHeadersRef.namespace: expected ' + object.metadata.namespace + ', the namespace of the subscription: Secrets of other namespaces are not read'`,
    },
    {
      holds: `isURL(${destination}) && url(${destination}).getScheme() != '' && url(${destination}).getEscapedPath() != ''`,
      message: `'spec.destination: expected a URL with a path, such as https://receiver.example/, found "' + ${destination} + '"'`,
    },
  ],
};

const dataImageRule: AdmissionRule = {
  name: 'metal-operator-dataimage',
  kind: DataImage,
  ...denied,
  when: specChanges,
  checks: [
    {
      holds: isImageUrl('object.spec.url'),
      message: `'spec.url: ${expectedImageUrl}, found "' + object.spec.url + '"'`,
    },
  ],
};

const componentsRule: AdmissionRule = {
  name: 'metal-operator-hostfirmwarecomponents',
  kind: HostFirmwareComponents,
  ...denied,
  when: specChanges,
  checks: [
    {
      holds: `object.spec.updates.all(update, ${isImageUrl('update.url')})`,
      message: `'spec.updates: ${expectedImageUrl} for ' + object.spec.updates.filter(update, !${isImageUrl('update.url')})[0].component`,
    },
  ],
};

const term = 'expression';
const isSelector =
  `(${term}.operator in ['=', '==', '!='] && ${term}.values.size() == 1) || (${term}.operator in ['in', 'notin'] && ${term}.values.size() > 0) || ` +
  `(${term}.operator in ['exists', '!'] && ${term}.values.size() == 0)`;

const claimRule: AdmissionRule = {
  name: 'metal-operator-hostclaim',
  kind: HostClaim,
  ...denied,
  variables: { specChanges, ...annotationVariables },
  checks: [
    ...only('variables.specChanges', [
      ...imageChecks('object.spec'),
      {
        holds: `!has(object.spec.hostSelector) || !has(object.spec.hostSelector.matchExpressions) || object.spec.hostSelector.matchExpressions.all(${term}, ${isSelector})`,
        message: `'spec.hostSelector.matchExpressions: expected =, == or != with one value, in or notin with at least one, exists or ! with none'`,
      },
    ]),
    ...rebootChecks,
  ],
};

const isRange = (entry: string): string =>
  `${entry}.split('-').all(id, int(id) > 0 && int(id) < 4095) && (!${entry}.contains('-') || int(${entry}.split('-')[0]) < int(${entry}.split('-')[1]))`;

const attachmentRule: AdmissionRule = {
  name: 'metal-operator-hostnetworkattachment',
  kind: HostNetworkAttachment,
  ...denied,
  when: `${isCreated} || !has(object.spec) || !has(oldObject.spec) || object.spec != oldObject.spec`,
  variables: {
    vlans: 'has(object.spec) && has(object.spec.allowedVLANs) ? object.spec.allowedVLANs : []',
  },
  checks: [
    {
      holds: `variables.vlans.size() == 0 || object.spec.mode != 'access'`,
      message: `'spec.allowedVLANs: expected none in mode access: remove them, or use mode trunk or hybrid'`,
    },
    {
      holds: `variables.vlans.all(entry, entry.matches('^[0-9]{1,4}(-[0-9]{1,4})?$') && ${isRange('entry')})`,
      message: `'spec.allowedVLANs: expected VLANs from 1 to 4094 and ascending ranges of them, such as 100 or 200-299'`,
    },
  ],
};

const unusedRules: readonly AdmissionRule[] = unusedMetal3Kinds.map((kind) => ({
  name: `metal-operator-${kind.singular}-unused`,
  kind,
  operations: ['CREATE'],
  action: 'Warn',
  checks: [{ holds: 'false', message: `'no controller of this operator reads ${kind.kind} objects'` }],
}));

/** The checks of Metal3's webhooks, evaluated by the API server. Rejections first, then warnings. */
export const metal3AdmissionRules: readonly AdmissionRule[] = [
  bareMetalHostRule,
  eventSubscriptionRule,
  dataImageRule,
  componentsRule,
  claimRule,
  attachmentRule,
  ...unusedRules,
];
