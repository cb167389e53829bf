import { exactlyOneOf, rule } from '@metal/kube/kinds/cel.ts';
import * as z from 'zod';
import { int32, objectRef, retryPolicy } from '../common/fields.ts';

/** Fields that the kinds of BIOS, firmware and settings share. */

const settingsMap = () => z.record(z.string(), z.string()).optional();

export const maintenancePolicy = () =>
  z.string().optional().describe('Policy of the ServerMaintenance that is requested: OwnerApproval or Enforced.');
export const maintenanceRef = () =>
  objectRef().optional().describe('ServerMaintenance during which the change is made.');

export const dryRun = () =>
  z
    .boolean()
    .optional()
    .describe('Only compare: status.plan says what would change and whether the machine restarts. Nothing is changed.');

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
  pendingSettings: z
    .enum(['Wait', 'Clear'])
    .optional()
    .describe(
      'Changes that somebody else made and that wait for a restart. Wait: until they are applied or withdrawn. Clear: withdraw them. Default: Wait.',
    ),
  dryRun: dryRun(),
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
    checksum: rule(z.string().max(71), "self.matches('^sha256:[0-9a-f]{64}$')", 'expected sha256: and 64 hex digits')
      .optional()
      .describe('SHA-256 of the image, as sha256:<hex>. The operator verifies it before a maintenance begins.'),
    delivery: z
      .enum(['Auto', 'BMC', 'Proxy', 'Push'])
      .optional()
      .describe(
        'How the image gets to the BMC. BMC: the BMC fetches it from the URI. Proxy: the BMC fetches it from the boot service, which fetches it once. Push: the operator sends it. Auto: BMC if it can fetch images, otherwise Push. Default: Auto.',
      ),
  });

export const versionTemplate = () => ({
  version: z.string().describe('Desired version. Empty: that of the image, which is installed once.'),
  updatePolicy: z.string().optional().describe('Force: install even if the BMC would reject the version.'),
  upgradePolicy: z
    .enum(['Exact', 'Newer'])
    .optional()
    .describe(
      'Exact: install the version whenever another one is installed. Newer: a later version than this may stay. Default: Exact.',
    ),
  image: image().describe('Firmware image.'),
  dryRun: dryRun(),
  serverMaintenancePolicy: maintenancePolicy(),
  retryPolicy: retryPolicy(),
});

/** Members of FirmwareInventory. Several may match, for example two adapters of one model: all get the image. */
const component = () =>
  rule(
    z.object({
      id: z.string().max(256).optional().describe('Id of the member of FirmwareInventory.'),
      name: z.string().max(256).optional().describe('Name of the member.'),
      manufacturer: z.string().max(256).optional().describe('Manufacturer of the member.'),
      pattern: z
        .string()
        .max(256)
        .optional()
        .describe('Pattern with * for the Id or the Name of the member, in any letter case.'),
    }),
    'has(self.id) || has(self.name) || has(self.pattern)',
    'expected id, name or pattern: without one of them every component would get the image',
  );

export const firmwareTemplate = () => ({
  component: component().describe('Component. All given fields must match.'),
  restart: z
    .enum(['Auto', 'Host', 'BMC', 'None'])
    .optional()
    .describe(
      'What restarts for the new version. Auto: the host if the BMC still reports the former version after the installation. Default: Auto.',
    ),
  ...versionTemplate(),
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
  dryRun: dryRun(),
  serverMaintenancePolicy: maintenancePolicy(),
  retryPolicy: retryPolicy(),
});

export const uniqueVariables = <S extends z.ZodType>(schema: S): S =>
  rule(
    schema,
    '!has(self.variables) || self.variables.all(a, self.variables.exists_one(b, b.key == a.key))',
    'variable keys must be unique',
  );
