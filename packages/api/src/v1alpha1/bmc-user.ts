import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import {
  age,
  conditions,
  defaulted,
  group,
  localRef,
  readyColumn,
  readyColumns,
  time,
  version,
} from '../common/fields.ts';

const spec = z.object({
  userName: z.string().describe('Name of the account.'),
  roleID: z.string().describe('Redfish role, for example Administrator or ReadOnly.'),
  description: z.string().optional().describe('Purpose of the account. Not sent to the BMC.'),
  rotationPeriod: z
    .string()
    .optional()
    .describe(
      'Interval of password rotation, a Go duration of at least 1m, for example 720h. Default: no periodic rotation.',
    ),
  bmcSecretRef: localRef().optional().describe('BMCSecret with the password. Default: the operator creates one.'),
  bmcRef: localRef().optional().describe('BMC of the account.'),
});

const status = z.object({
  effectiveBMCSecretRef: localRef().optional().describe('BMCSecret with the password in use.'),
  lastRotation: time().optional().describe('Time of the last password rotation.'),
  passwordExpiration: time().optional().describe('Time at which the password expires on the BMC.'),
  id: z.string().optional().describe('Redfish Id of the account.'),
  state: z
    .enum(['Pending', 'Rotating', 'Ready', 'Error'])
    .optional()
    .describe(
      'Pending: waiting for a prerequisite. Rotating: a password is being changed. Ready: the password works. Error: manual action is required.',
    ),
  effectiveBMCSecretVersion: z
    .string()
    .optional()
    .describe('UID and resource version of that BMCSecret at the last successful login.'),
  rejectedBMCSecretVersion: z
    .string()
    .optional()
    .describe(
      'UID and resource version of a BMCSecret whose password the BMC accepted at the change and rejected at login. It is not tried again.',
    ),
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
  description: 'Account on a BMC, with password rotation.',
  columns: {
    ID: '.status.id',
    UserName: '.spec.userName',
    RoleID: '.spec.roleID',
    LastRotation: { path: '.status.lastRotation', type: 'date' },
    PasswordExpiration: { path: '.status.passwordExpiration', type: 'date' },
    ...age,
    Ready: readyColumn,
    ...readyColumns,
  },
  fields: {
    spec: defaulted(spec.describe('Desired state of the account.'), { userName: '', roleID: '' }),
    status: status.optional().describe('Observed state of the account.'),
  },
});
export type BMCUser = ObjectOf<typeof BMCUser>;
