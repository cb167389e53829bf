import type { DiskImage } from '@metal/api/common/disk-image.ts';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { hostOfServerAnnotation, hostTaint } from '@metal/api/metal3/metal3-contract.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { NewObject } from '@metal/kube/kinds/kind.ts';
import { failed, type StepResult } from '../provisioner/step-result.ts';
import { markOf } from './host-objects.ts';
import { claimNameOf } from './native-names.ts';

/** The claim of a host on its Server: with an image that is written, or without one for a machine that is taken over as it is. */
export const newClaim = (
  host: BareMetalHost,
  server: Server,
  spec: { readonly power: 'On' | 'Off'; readonly diskImage?: DiskImage },
): NewObject<ServerClaim> => ({
  metadata: {
    name: claimNameOf(host),
    namespace: host.metadata.namespace,
    annotations: { [hostOfServerAnnotation]: markOf(host) },
  },
  spec: {
    image: '',
    ...spec,
    serverRef: { name: server.metadata.name },
    tolerations: [{ key: hostTaint, operator: 'Exists' }],
  },
});

export const foreignClaim = (host: BareMetalHost): StepResult =>
  failed(`ServerClaim ${claimNameOf(host)} is not of this host: delete it, or rename the host`);
