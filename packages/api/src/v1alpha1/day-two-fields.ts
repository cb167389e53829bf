import { exactlyOneOf, rule } from '@metal/kube/kinds/cel.ts';
import * as z from 'zod';
import { int32, int64, objectRef, plainConditions, retryPolicy, time } from '../common/fields.ts';

/** Fields that the kinds of BIOS, firmware and settings share. */

const settingsMap = () => z.record(z.string(), z.string()).optional();

export const maintenancePolicy = () =>
  z.string().optional().describe('Policy of the ServerMaintenance that is requested: OwnerApproval or Enforced.');
export const maintenanceRef = () =>
  objectRef().optional().describe('ServerMaintenance during which the change is made.');

export const biosTemplate = () => ({
  version: z.string().describe('BIOS version that the settings apply to.'),
  settingsFlow: z
    .array(
      z.object({
        name: z.string().min(1).max(1_000).describe('Name of the step.'),
        priority: int32().min(1).max(2_147_483_645).describe('Lower values are applied first.'),
        settings: settingsMap().describe('BIOS attributes and their values.'),
      }),
    )
    .optional()
    .describe('Settings, in steps.'),
  serverMaintenancePolicy: maintenancePolicy(),
  retryPolicy: retryPolicy(),
});

export const image = () =>
  z.object({
    URI: z.string().describe('URI that the BMC fetches the image from.'),
    secretRef: z
      .object({
        name: z.string().optional().describe('Name of the Secret.'),
        namespace: z.string().optional().describe('Namespace.'),
      })
      .meta({ 'x-kubernetes-map-type': 'atomic' })
      .optional()
      .describe('Secret with the credentials for the image.'),
    transferProtocol: z.string().optional().describe('Transfer protocol (Redfish TransferProtocol).'),
  });

export const versionTemplate = () => ({
  version: z.string().describe('Desired version.'),
  updatePolicy: z.string().optional().describe('Force: install even if the BMC would reject the version.'),
  image: image().describe('Firmware image.'),
  serverMaintenancePolicy: maintenancePolicy(),
  retryPolicy: retryPolicy(),
});

const keyRef = (targetKind: string) =>
  z.object({
    name: z.string().min(1).max(253).describe(`Name of the ${targetKind}.`),
    namespace: z.string().min(1).max(63).describe('Namespace.'),
    key: z.string().min(1).max(253).describe('Key in the data.'),
  });

const valueFrom = () =>
  rule(
    exactlyOneOf(
      z.object({
        fieldRef: z
          .object({ fieldPath: z.string().min(1).max(256).describe('Path of the field.') })
          .optional()
          .describe('Field of this object.'),
        objectFieldRef: z
          .object({
            kind: z.string().min(1).max(63).describe('Kind of the object. Only BMC is supported.'),
            name: z.string().min(1).max(253).describe('Name.'),
            fieldPath: z.string().min(1).max(256).describe('Path of the field.'),
          })
          .optional()
          .describe('Field of another object.'),
        configMapKeyRef: keyRef('ConfigMap').optional().describe('Value in a ConfigMap.'),
        secretKeyRef: keyRef('Secret').optional().describe('Value in a Secret.'),
      }),
      ['fieldRef', 'objectFieldRef', 'configMapKeyRef', 'secretKeyRef'],
      'exactly one of fieldRef, objectFieldRef, configMapKeyRef or secretKeyRef must be set',
    ),
    "!has(self.objectFieldRef) || self.objectFieldRef.kind == 'BMC'",
    'objectFieldRef.kind must be BMC',
  );

export const bmcSettingsTemplate = () => ({
  version: z.string().describe('BMC firmware version that the settings apply to.'),
  settings: settingsMap().describe('BMC attributes and their values.'),
  variables: z
    .array(
      z.object({
        key: z.string().min(1).max(63).describe('Name of the variable.'),
        valueFrom: valueFrom().describe('Source of the value.'),
      }),
    )
    .max(64)
    .optional()
    .describe('Variables for use in the values of settings.'),
  serverMaintenancePolicy: maintenancePolicy(),
  retryPolicy: retryPolicy(),
});

export const uniqueVariables = <S extends z.ZodType>(schema: S): S =>
  rule(
    schema,
    '!has(self.variables) || self.variables.all(a, self.variables.exists_one(b, b.key == a.key))',
    'variable keys must be unique',
  );

export const workStatus = () => ({
  state: z.string().optional().describe('State: Pending, InProgress, Completed/Applied or Failed.'),
  conditions: plainConditions(),
  failedAttempts: int32().optional().describe('Number of failed attempts.'),
  observedGeneration: int64().optional().describe('metadata.generation that the status was computed for.'),
});

export const flowStatus = () => ({
  lastAppliedTime: time().optional().describe('Time at which the settings were last applied.'),
});

export const upgradeTask = () =>
  z
    .object({
      URI: z.string().optional().describe('URI of the Redfish task.'),
      state: z.string().optional().describe('State.'),
      status: z.string().optional().describe('Status (health) of the task.'),
      percentageComplete: int32().optional().describe('Progress in percent.'),
    })
    .optional()
    .describe('Task of the upgrade in progress.');

const setCounters = ['available', 'pending', 'inProgress', 'completed', 'failed'] as const;
const counter = () => int32().optional().describe('Number of objects.');

type SetCounter<Child extends string, Selected extends string> =
  | `fullyLabeled${Selected}`
  | `${(typeof setCounters)[number]}${Child}`;

/** Counters of a set: `availableX`, `pendingX` and so on, for children of kind X, over selected objects. */
export function setStatus<Child extends string, Selected extends string>(child: Child, selected: Selected) {
  const names = [`fullyLabeled${selected}`, ...setCounters.map((state) => `${state}${child}`)];
  // The type composes the names in the same way.
  const shape = Object.fromEntries(names.map((name) => [name, counter()])) as Record<
    SetCounter<Child, Selected>,
    ReturnType<typeof counter>
  >;
  return z.object(shape).optional().describe('Observed state of the set.');
}

export function setColumns(
  child: string,
  selected: string,
  first: Record<string, string>,
  total: { name: string; type: 'string' | 'integer' },
  counterType: 'string' | 'integer',
) {
  const counter = (state: string) => ({ path: `.status.${state}${child}`, type: counterType });
  return {
    ...first,
    [total.name]: { path: `.status.fullyLabeled${selected}`, type: total.type },
    [`Available${child}`]: counter('available'),
    Pending: counter('pending'),
    InProgress: counter('inProgress'),
    Completed: counter('completed'),
    Failed: counter('failed'),
  } as const;
}
