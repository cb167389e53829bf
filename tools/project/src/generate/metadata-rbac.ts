import type { GeneratedFile } from './generated-folder.ts';
import { yamlFile } from './yaml-file.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';

/**
 * Roles of a metadata service that runs on its own. It faces every machine, so it may read no Secret at all until
 * somebody who owns a namespace says so.
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
    // To be bound by a RoleBinding in each namespace whose claims have user data.
    {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name: 'metal-operator-user-data-reader' },
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
    },
    // Only for machines that show the token of their boot: whoever reads this key can make such tokens.
    {
      apiVersion,
      kind: 'Role',
      metadata: { name: 'metal-operator-boot-key-reader', namespace: 'metal-operator-system' },
      rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['metal-operator-boot-key'], verbs: ['get'] }],
    },
  ]);
}
