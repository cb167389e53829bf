import type { GeneratedFile } from './generated-folder.ts';
import { yamlFile } from './yaml-file.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';

/**
 * Roles of a separate metadata service. Every machine can reach it, so it may read no Secret until an administrator of a
 * namespace binds the role for user data.
 */
export function metadataRbac(): GeneratedFile {
  return yamlFile('metadata.yaml', [
    {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name: 'metal-operator-metadata' },
      rules: [
        {
          apiGroups: ['metal.ironcore.dev'],
          resources: ['serverbootconfigurations', 'servers'],
          verbs: ['get', 'list', 'watch'],
        },
        { apiGroups: ['metal.ironcore.dev'], resources: ['serverclaims'], verbs: ['get'] },
        { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      ],
    },
    // For a RoleBinding in each namespace with user data.
    {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name: 'metal-operator-user-data-reader' },
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
    },
    // Only for authentication by boot tokens: a reader of this key can mint tokens.
    {
      apiVersion,
      kind: 'Role',
      metadata: { name: 'metal-operator-boot-key-reader', namespace: 'metal-operator-system' },
      rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['metal-operator-boot-key'], verbs: ['get'] }],
    },
  ]);
}
