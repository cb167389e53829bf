import { exactlyOneOf, rule } from '@metal/kube/kinds/cel.ts';
import * as z from 'zod';
import { int32, int64, objectRef, plainConditions, retryPolicy, time } from '../common/fields.ts';

/** Fields that the day-two kinds share. */

const settingsMap = () => z.record(z.string(), z.string()).optional();

export const maintenancePolicy = () =>
  z.string().optional().describe('OwnerApproval or Enforced, for the maintenance that is asked for.');
export const maintenanceRef = () => objectRef().optional().describe('Maintenance the work happens in.');

export const biosTemplate = () => ({
  version: z.string().describe('BIOS version the settings are for.'),
  settingsFlow: z
    .array(
      z.object({
        name: z.string().min(1).max(1_000).describe('Name of the step.'),
        priority: int32().min(1).max(2_147_483_645).describe('Lower goes first.'),
        settings: settingsMap().describe('BIOS attributes with their values.'),
      }),
    )
    .optional()
    .describe('Settings, step by step.'),
  serverMaintenancePolicy: maintenancePolicy(),
  retryPolicy: retryPolicy(),
});

export const image = () =>
  z.object({
    URI: z.string().describe('Where the BMC fetches the image from.'),
    secretRef: z
      .object({
        name: z.string().optional().describe('Name of the secret.'),
        namespace: z.string().optional().describe('Its namespace.'),
      })
      .meta({ 'x-kubernetes-map-type': 'atomic' })
      .optional()
      .describe('Credentials for the image.'),
    transferProtocol: z.string().optional().describe('Protocol of the transfer.'),
  });

export const versionTemplate = () => ({
  version: z.string().describe('Version that is wanted.'),
  updatePolicy: z.string().optional().describe('Force installs although the BMC would refuse.'),
  image: image().describe('The firmware.'),
  serverMaintenancePolicy: maintenancePolicy(),
  retryPolicy: retryPolicy(),
});

const keyRef = (targetKind: string) =>
  z.object({
    name: z.string().min(1).max(253).describe(`Name of the ${targetKind}.`),
    namespace: z.string().min(1).max(63).describe('Its namespace.'),
    key: z.string().min(1).max(253).describe('Key in it.'),
  });

const valueFrom = () =>
  rule(
    exactlyOneOf(
      z.object({
        fieldRef: z
          .object({ fieldPath: z.string().min(1).max(256).describe('Path in the object itself.') })
          .optional()
          .describe('A field of the object itself.'),
        objectFieldRef: z
          .object({
            kind: z.string().min(1).max(63).describe('Kind of the object: BMC.'),
            name: z.string().min(1).max(253).describe('Its name.'),
            fieldPath: z.string().min(1).max(256).describe('Path in it.'),
          })
          .optional()
          .describe('A field of another object.'),
        configMapKeyRef: keyRef('ConfigMap').optional().describe('A value of a ConfigMap.'),
        secretKeyRef: keyRef('Secret').optional().describe('A value of a Secret.'),
      }),
      ['fieldRef', 'objectFieldRef', 'configMapKeyRef', 'secretKeyRef'],
      'exactly one of fieldRef, objectFieldRef, configMapKeyRef or secretKeyRef must be set',
    ),
    "!has(self.objectFieldRef) || self.objectFieldRef.kind == 'BMC'",
    'objectFieldRef.kind must be BMC',
  );

export const bmcSettingsTemplate = () => ({
  version: z.string().describe('BMC firmware version the settings are for.'),
  settings: settingsMap().describe('BMC attributes with their values.'),
  variables: z
    .array(
      z.object({
        key: z.string().min(1).max(63).describe('Name of the variable.'),
        valueFrom: valueFrom().describe('Where its value comes from.'),
      }),
    )
    .max(64)
    .optional()
    .describe('Variables that values may use.'),
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
  state: z.string().optional().describe('Pending, InProgress, Completed/Applied or Failed.'),
  conditions: plainConditions(),
  failedAttempts: int32().optional().describe('Attempts that failed.'),
  observedGeneration: int64().optional().describe('Generation the status is about.'),
});

export const flowStatus = () => ({
  lastAppliedTime: time().optional().describe('When it was last applied.'),
});

export const upgradeTask = () =>
  z
    .object({
      URI: z.string().optional().describe('Redfish task.'),
      state: z.string().optional().describe('Its state.'),
      status: z.string().optional().describe('Its health.'),
      percentageComplete: int32().optional().describe('Its progress.'),
    })
    .optional()
    .describe('Task of the running upgrade.');

const setCounters = ['available', 'pending', 'inProgress', 'completed', 'failed'] as const;
const counter = () => int32().optional().describe('Number of objects.');

type SetCounter<Child extends string, Selected extends string> =
  | `fullyLabeled${Selected}`
  | `${(typeof setCounters)[number]}${Child}`;

/** Counters of a set: `availableX`, `pendingX` and so on, for children of kind X, over selected objects. */
export function setStatus<Child extends string, Selected extends string>(child: Child, selected: Selected) {
  const names = [`fullyLabeled${selected}`, ...setCounters.map((state) => `${state}${child}`)];
  // The names are put together in the same way by the type.
  const shape = Object.fromEntries(names.map((name) => [name, counter()])) as Record<
    SetCounter<Child, Selected>,
    ReturnType<typeof counter>
  >;
  return z.object(shape).optional().describe('How far the set is.');
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
