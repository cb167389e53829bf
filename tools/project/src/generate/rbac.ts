import { certificateKeysConfigMap } from '@metal/api/wire/contract.ts';
import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import type { GeneratedFile } from './generated-folder.ts';
import { yamlFile } from './yaml-file.ts';

/**
 * The writes of a controller or a service. `servers`: create, patch and delete; `patch:servers`: only patch; `servers/status`,
 * `secrets`, …
 */
export interface Writer {
  readonly name: string;
  readonly writes: readonly string[];
}

export interface RbacInput {
  readonly kinds: readonly DefinedKind[];
  readonly controllers: readonly Writer[];
  readonly services: readonly Writer[];
}

export interface PolicyRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

const patchOnly = 'patch:';
const resourceOf = (written: string): string => written.replace(patchOnly, '');

const namespace = 'metal-operator-system';
const readVerbs = ['get', 'list', 'watch'];
const everyVerb = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

/** Roles of the operator: read access to each kind, and write access to the declared resources of controllers and services. */
export function generateRbac({ kinds, controllers, services }: RbacInput): GeneratedFile[] {
  const written = [...new Set([...controllers, ...services].flatMap(({ writes }) => writes))].toSorted();
  rejectUnknown(written, kinds);
  const { ignition, updates, ownNamespace, metricsAuth, metricsReader } = namedRules();
  const ownRole = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'metal-operator-manager', namespace },
    rules: ownNamespace,
  };
  return [
    yamlFile('manager.yaml', [clusterRole('metal-operator-manager', managerRules(written, kinds)), ownRole]),
    yamlFile('boot.yaml', [clusterRole('metal-operator-ignition-reader', ignition)]),
    yamlFile('updates.yaml', [clusterRole('metal-operator-update-reader', updates)]),
    yamlFile('metrics.yaml', [
      clusterRole('metal-operator-metrics-auth', metricsAuth),
      clusterRole('metal-operator-metrics-reader', metricsReader),
    ]),
  ];
}

/** The rules of the controllers of Metal3, in addition to those of the manager. */
export function metal3Rules(
  controllers: readonly Writer[],
  kinds: readonly DefinedKind[],
  ownKinds: readonly DefinedKind[],
): PolicyRule[] {
  const written = [...new Set(controllers.flatMap(({ writes }) => writes))].toSorted();
  rejectUnknown(written, [...ownKinds, ...kinds]);
  const groups = [...new Set(kinds.map(({ group }) => group))];
  const pluralsOf = (group: string) => kinds.filter((kind) => kind.group === group).map(({ plural }) => plural);
  return [
    ...managerRules(written, ownKinds),
    ...groups.flatMap((group) => [
      rule(group, pluralsOf(group).toSorted(), readVerbs),
      ...writeRules(group, written, kinds),
    ]),
    // Those of hosts are in any namespace; the first access to each is without the label that restricts the watch.
    rule('', ['secrets'], ['create', ...readVerbs, 'patch']),
  ];
}

export const metal3Role = (rules: readonly PolicyRule[]): GeneratedFile =>
  yamlFile('manager.yaml', [clusterRole('metal-operator-metal3', rules)]);

export function managerRules(written: readonly string[], kinds: readonly DefinedKind[]): PolicyRule[] {
  const groups = [...new Set(kinds.map(({ group }) => group))].toSorted().toReversed();
  return [
    ...groups.flatMap((group) => rulesOfGroup(group, written, kinds)),
    rule('events.k8s.io', ['events'], ['create', 'patch']),
    // They are compared with those of this version.
    {
      ...rule('apiextensions.k8s.io', ['customresourcedefinitions'], ['get']),
      resourceNames: kinds.map(({ plural, group: ofKind }) => `${plural}.${ofKind}`).toSorted(),
    },
  ];
}

function rulesOfGroup(group: string, written: readonly string[], kinds: readonly DefinedKind[]): PolicyRule[] {
  const plurals = kinds.filter((kind) => kind.group === group).map(({ plural }) => plural);
  return [
    rule(group, plurals.toSorted(), readVerbs),
    ...writeRules(group, written, kinds),
    // OwnerReferencesPermissionEnforcement requires this for blockOwnerDeletion.
    rule(
      group,
      plurals.toSorted().map((plural) => `${plural}/finalizers`),
      ['update'],
    ),
  ];
}

/** The rules for the written resources of one group. */
export function writeRules(group: string, written: readonly string[], kinds: readonly DefinedKind[]): PolicyRule[] {
  const plurals = new Set(kinds.filter((kind) => kind.group === group).map(({ plural }) => plural));
  const objects = written.filter((resource) => plurals.has(resource));
  const patched = written
    .filter((resource) => resource.startsWith(patchOnly))
    .map(resourceOf)
    .filter((resource) => plurals.has(resource) && !objects.includes(resource));
  const statuses = written.filter(
    (resource) => plurals.has(resource.replace(/\/status$/, '')) && !plurals.has(resource),
  );
  const rules = [
    rule(group, objects, ['create', 'delete', 'patch']),
    rule(group, patched, ['patch']),
    rule(group, statuses, ['patch']),
  ];
  return rules.filter(({ resources = [] }) => resources.length > 0);
}

/** The rules of the roles that do not depend on writers, by the name of the role in the chart. */
export const namedRules = () => ({
  /**
   * The ignition of a claim is a Secret in the claim's namespace. Only the boot service reads it, so the role is bound for the boot
   * service only: in the whole cluster, or by a RoleBinding in each namespace with such claims.
   */
  ignition: [rule('', ['secrets'], ['get'])],
  /**
   * Credentials of firmware images, and variables of BMCSettings, in other namespaces than the operator's: bound in the whole cluster,
   * or by a RoleBinding in each namespace with such objects.
   */
  updates: [rule('', ['secrets', 'configmaps'], ['get'])],
  /** Objects in the namespace of the operator: ignition and keys of discoveries, keys of boot tokens and certificates, leases. */
  ownNamespace: [
    rule('', ['secrets'], ['create', 'delete', 'get', 'patch']),
    // A create request cannot be restricted by resource name. BMCSettings read their variables from ConfigMaps.
    rule('', ['configmaps'], ['create', 'get']),
    { ...rule('', ['configmaps'], ['patch']), resourceNames: [certificateKeysConfigMap] },
    rule('coordination.k8s.io', ['leases'], ['create', 'delete', 'get', 'list', 'patch', 'watch']),
  ],
  metricsAuth: [
    rule('authentication.k8s.io', ['tokenreviews'], ['create']),
    rule('authorization.k8s.io', ['subjectaccessreviews'], ['create']),
  ],
  metricsReader: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
});

/** Roles for users: `<kind>-admin-role`, `-editor-role` and `-viewer-role` of every kind. */
export function convenienceRoles(kinds: readonly DefinedKind[]): GeneratedFile[] {
  return kinds.map(({ group, plural, singular }) => {
    const status = rule(group, [`${plural}/status`], ['get']);
    const finalizers = plural === 'serverreadinessrules' ? [rule(group, [`${plural}/finalizers`], ['update'])] : [];
    return yamlFile(`${plural}.yaml`, [
      clusterRole(`${singular}-admin-role`, [rule(group, [plural], ['*']), status, ...finalizers]),
      clusterRole(`${singular}-editor-role`, [rule(group, [plural], everyVerb), status]),
      clusterRole(`${singular}-viewer-role`, [rule(group, [plural], readVerbs), status]),
    ]);
  });
}

const rule = (group: string, resources: readonly string[], verbs: readonly string[]): PolicyRule => ({
  apiGroups: [group],
  resources,
  verbs,
});

const clusterRole = (name: string, rules: readonly object[]) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name },
  rules,
});

/** Otherwise a misspelt resource would show only as Forbidden in a running cluster. */
function rejectUnknown(written: readonly string[], kinds: readonly DefinedKind[]): void {
  const known = new Set(['secrets', ...kinds.flatMap(({ plural }) => [plural, `${plural}/status`])]);
  const unknown = written.filter((resource) => !known.has(resourceOf(resource)));
  if (unknown.length === 0) return;
  throw new TypeError(
    `no role can be made for ${unknown.join(', ')}: expected secrets, or a plural of a kind with or without /status`,
  );
}
