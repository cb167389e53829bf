import type { ControlPlaneAccess } from '@metal/controlplane/running-control-plane.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import {
  bindRole,
  createRbac,
  generatedRoles,
  installOperatorRoles,
  operatorRoles,
  operatorUser,
  rbacGroup,
  roleFolders,
} from '@metal/project/generated-roles.ts';

/** A cluster that may have the generated roles, bound to the operator's user, from the start. */
export interface ClusterWithRoles extends ControlPlaneAccess {
  readonly hasOperatorRoles?: boolean;
}

/** The kubeconfig of a user that has the operator's roles but those withheld. Installs the generated roles where they are missing. */
export async function restrictedKubeconfig(
  cluster: ClusterWithRoles,
  client: KubeClient,
  without: readonly string[] = [],
): Promise<string> {
  if (cluster.hasOperatorRoles !== true) await installOperatorRoles(client);
  const user = userWithout(without);
  if (without.length > 0)
    for (const role of await generatedRoles(roleFolders.operator))
      if (operatorRoles.has(role.metadata.name) && !without.includes(role.metadata.name))
        await bindRole(client, role, user);
  return cluster.kubeconfigFor(user);
}

/** Binds the operator's roles to a service account, once they are installed. */
export async function bindRolesTo(client: KubeClient, account: string): Promise<void> {
  for (const role of await generatedRoles(roleFolders.operator))
    if (operatorRoles.has(role.metadata.name)) await bindRole(client, role, `system:serviceaccount:default:${account}`);
}

/** Binds the roles that were withheld, as an administrator does later. */
export async function bindWithheldRoles(client: KubeClient, withheld: readonly string[]): Promise<void> {
  for (const role of await generatedRoles(roleFolders.operator))
    if (withheld.includes(role.metadata.name)) await bindRole(client, role, userWithout(withheld));
}

/** Binds the role of the component metal3 to the operator's user, before that has its other roles. */
export async function bindMetal3Role(client: KubeClient): Promise<void> {
  for (const role of await generatedRoles(roleFolders.metal3)) {
    await createRbac(client, role.kind, role.metadata.namespace, role);
    await bindRole(client, role, userWithout([]));
  }
}

const userWithout = (withheld: readonly string[]): string => [operatorUser, ...withheld].join('-without-');

const metadataUser = 'metal-operator-metadata';

/** The kubeconfig of a standalone metadata service: it can read servers, and no Secret. */
export async function metadataKubeconfig(cluster: ClusterWithRoles, client: KubeClient): Promise<string> {
  for (const role of await generatedRoles(roleFolders.operator)) {
    await createRbac(client, role.kind, role.metadata.namespace, role);
    if (role.metadata.name === metadataUser) await bindRole(client, role, metadataUser);
  }
  return cluster.kubeconfigFor(metadataUser);
}

/** Grants machines the user data of the claims in a namespace, as its owner does. */
export async function allowUserData(client: KubeClient, namespace: string): Promise<void> {
  const subjects = [{ apiGroup: rbacGroup, kind: 'User', name: metadataUser }];
  const roleRef = { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'metal-operator-user-data-reader' };
  const metadata = { name: 'user-data', namespace };
  await client.raw({
    method: 'POST',
    path: `/apis/${rbacGroup}/v1/namespaces/${namespace}/rolebindings`,
    body: { apiVersion: `${rbacGroup}/v1`, kind: 'RoleBinding', metadata, roleRef, subjects },
  });
}
