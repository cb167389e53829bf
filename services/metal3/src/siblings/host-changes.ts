import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { detachedAnnotation, pausedAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import type { WatchSource } from '@metal/kube/controller/definition.ts';
import { isSameJson } from '@metal/kube/controller/status-diff.ts';
import { keyOf, type KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Metal3Context } from '../context.ts';

type Keys = WatchSource<Metal3Context>['mapToKeys'];

/** Changes of a host that matter to objects that belong to it. Without `mapToKeys` they have its name. */
export const watchOfHosts = (mapToKeys: Keys = sameName): WatchSource<Metal3Context> => ({
  kind: BareMetalHost,
  mapToKeys,
  predicate: (before, after) => !isSameJson(before && partOf(before), after && partOf(after)),
});

const sameName: Keys = ({ metadata }) => [keyOf(metadata)];

const partOf = (object: KubeObject): unknown => (isHost(object) ? relevantPart(object) : object);

const isHost = (object: KubeObject): object is BareMetalHost => object.kind === BareMetalHost.kind;

const relevantPart = ({ metadata, spec, status }: BareMetalHost) => ({
  uid: metadata.uid,
  address: spec.bmc?.address,
  paused: metadata.annotations?.[pausedAnnotation],
  detached: metadata.annotations?.[detachedAnnotation],
  operationalStatus: status?.operationalStatus,
  state: status?.provisioning.state,
  node: status?.provisioning.ID,
});
