import type { AdmissionCheck } from '@metal/kube/kinds/admission.ts';

const interfaces = 'variables.networkInterfaces';
const isSet = (item: string, member: string): string => `(has(${item}.${member}) && ${item}.${member} != '')`;
const isSame = (member: string): string =>
  `(${isSet('one', member)} && ${isSet('other', member)} && one.${member}.lowerAscii() == other.${member}.lowerAscii())`;
const isUnique = (member: string): string =>
  `${interfaces}.all(one, !${isSet('one', member)} || ${interfaces}.exists_one(other, ${isSame(member)}))`;

export const networkInterfaceVariables = {
  networkInterfaces: 'has(object.spec.networkInterfaces) ? object.spec.networkInterfaces : []',
};

export const networkInterfaceChecks: readonly AdmissionCheck[] = [
  {
    holds: `${interfaces}.all(one, ${isSet('one', 'name')} != ${isSet('one', 'macAddress')})`,
    message: `'spec.networkInterfaces: expected exactly one of name and macAddress in each entry'`,
  },
  {
    holds: `${isUnique('name')} && ${isUnique('macAddress')}`,
    message: `'spec.networkInterfaces: expected each name and macAddress once, in any letter case'`,
  },
];
