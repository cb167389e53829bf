import type { GeneratedFile } from './generated-folder.ts';
import { yamlFile } from './yaml-file.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';

/** The rules of its roles, by the name of the role in the chart. */
export const metadataRules = () => ({
  metadata: [
    {
      apiGroups: ['metal.ironcore.dev'],
      resources: ['serverbootconfigurations', 'servers'],
      verbs: ['get', 'list', 'watch'],
    },
    { apiGroups: ['metal.ironcore.dev'], resources: ['serverclaims'], verbs: ['get'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
  ],
  // For a RoleBinding in each namespace with user data.
  userData: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
  // Only for authentication by boot tokens: a reader of this key can mint tokens.
  bootKey: [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['metal-operator-boot-key'], verbs: ['get'] }],
});

/**
 * Roles of a separate metadata service. Every machine can reach it, so it may read no Secret until an administrator of a
 * namespace binds the role for user data.
 */
export function metadataRbac(): GeneratedFile {
  const { metadata, userData, bootKey } = metadataRules();
  const role = (kind: string, name: string, rules: readonly object[], namespace?: string) => ({
    apiVersion,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    rules,
  });
  return yamlFile('metadata.yaml', [
    role('ClusterRole', 'metal-operator-metadata', metadata),
    role('ClusterRole', 'metal-operator-user-data-reader', userData),
    role('Role', 'metal-operator-boot-key-reader', bootKey, 'metal-operator-system'),
  ]);
}
