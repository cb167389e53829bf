import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, conditions, defaulted, group, localRef, time, version } from '../common/fields.ts';

const spec = z.object({
  userName: z.string().describe('Name of the account.'),
  roleID: z.string().describe('Redfish role, such as Administrator or ReadOnly.'),
  description: z.string().optional().describe('What the account is for; not sent to the BMC.'),
  rotationPeriod: z.string().optional().describe('Go duration after which the password is changed.'),
  bmcSecretRef: localRef().optional().describe('BMCSecret with the password; made when empty.'),
  bmcRef: localRef().optional().describe('BMC that has the account.'),
});

const status = z.object({
  effectiveBMCSecretRef: localRef().optional().describe('BMCSecret whose password works.'),
  lastRotation: time().optional().describe('When the password was last changed.'),
  passwordExpiration: time().optional().describe('When the BMC lets the password expire.'),
  id: z.string().optional().describe('Redfish id of the account.'),
  state: z
    .enum(['Pending', 'Rotating', 'Ready', 'Error'])
    .optional()
    .describe(
      'Pending until the account can be worked on, Rotating while a password is brought in, Ready while it works, Error when only a person can help.',
    ),
  effectiveBMCSecretVersion: z
    .string()
    .optional()
    .describe('UID and version of that BMCSecret when its password was last seen to work.'),
  rejectedBMCSecretVersion: z
    .string()
    .optional()
    .describe('UID and version of a BMCSecret that the BMC took and then rejected; it is not tried again.'),
  conditions: conditions(),
});

/** An account on a BMC. */
export const BMCUser = defineKind({
  group,
  version,
  kind: 'BMCUser',
  plural: 'bmcusers',
  shortNames: ['bmcu'],
  scope: 'Cluster',
  description: 'An account on a BMC and the rotation of its password.',
  deprecated: 'metal.ironcore.dev/v1alpha1 BMCUser is deprecated',
  columns: {
    ID: '.status.id',
    UserName: '.spec.userName',
    RoleID: '.spec.roleID',
    LastRotation: { path: '.status.lastRotation', type: 'date' },
    PasswordExpiration: { path: '.status.passwordExpiration', type: 'date' },
    ...age,
  },
  fields: {
    spec: defaulted(spec.describe('The account.'), { userName: '', roleID: '' }),
    status: status.optional().describe('The account as the BMC has it.'),
  },
});
export type BMCUser = ObjectOf<typeof BMCUser>;
