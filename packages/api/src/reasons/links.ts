import type { KubeObject, ObjectRef } from '@metal/kube/kinds/kind.ts';
import type { BMC } from '../v1alpha1/bmc.ts';
import type { BMCUser } from '../v1alpha1/bmc-user.ts';
import type { Server } from '../v1alpha1/server.ts';
import type { ServerBootConfiguration } from '../v1alpha1/server-boot-configuration.ts';
import type { ServerMaintenance } from '../v1alpha1/server-maintenance.ts';
import type { ServerClaim } from '../v1alpha1/server-claim.ts';

export interface ObjectName extends ObjectRef {
  readonly kind: string;
}

/** The references of an object, by the kind that they refer to. Several: the first one that can be read counts. */
type Links = Readonly<Record<string, readonly (ObjectName | undefined)[]>>;

const to = (kind: string, ref: ObjectRef | undefined): ObjectName | undefined =>
  ref === undefined || ref.name === ''
    ? undefined
    : { kind, name: ref.name, ...(ref.namespace === undefined ? {} : { namespace: ref.namespace }) };

const claimLinks = ({ metadata, spec }: ServerClaim): Links => ({
  // A tenant may not read servers; the boot configuration of a claim has its name and namespace.
  Server: [to('Server', spec.serverRef), to('ServerBootConfiguration', metadata)],
});

const serverLinks = ({ spec }: Server): Links => ({
  BMC: [to('BMC', spec.bmcRef)],
  ServerMaintenance: [to('ServerMaintenance', spec.serverMaintenanceRef)],
  ServerBootConfiguration: [
    to('ServerBootConfiguration', spec.maintenanceBootConfigurationRef ?? spec.bootConfigurationRef),
  ],
});

const linksByKind: Readonly<Record<string, (object: never) => Links>> = {
  ServerClaim: claimLinks,
  Server: serverLinks,
  ServerMaintenance: ({ metadata, spec }: ServerMaintenance) => ({
    Server: [to('Server', spec.serverRef)],
    ServerBootConfiguration: [to('ServerBootConfiguration', metadata)],
  }),
  ServerBootConfiguration: ({ spec }: ServerBootConfiguration) => ({ Server: [to('Server', spec.serverRef)] }),
  BMC: ({ spec }: BMC) => ({ Endpoint: [to('Endpoint', spec.endpointRef)] }),
  BMCUser: ({ spec }: BMCUser) => ({ BMC: [to('BMC', spec.bmcRef)] }),
  // The BMC of an Endpoint has its name.
  Endpoint: ({ metadata }: KubeObject) => ({ BMC: [to('BMC', { name: metadata.name })] }),
};

/** The objects that a reason may mean when it points to a kind. Secrets are never among them. */
export function linksOf(object: KubeObject, kind: string, pointsTo: string | undefined): ObjectName[] {
  const links = linksByKind[kind];
  if (links === undefined || pointsTo === undefined) return [];
  // The table has a function for the type of each kind that it names.
  return (links(object as never)[pointsTo] ?? []).filter((name) => name !== undefined);
}
