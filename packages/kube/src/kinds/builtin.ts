/** Kinds of Kubernetes itself that the product reads or writes, with the fields it uses. */
import type { Kind, KubeObject } from './kind.ts';

function builtin<T extends KubeObject>(
  apiVersion: string,
  kind: string,
  plural: string,
  scope: Kind['scope'],
): Kind<T> {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const version = apiVersion.slice(slash + 1);
  return {
    group,
    version,
    apiVersion,
    kind,
    plural,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames: [],
    scope,
  };
}

export interface Secret extends KubeObject {
  type?: string | undefined;
  data?: Record<string, string> | undefined;
  immutable?: boolean | undefined;
}
export const Secret = builtin<Secret>('v1', 'Secret', 'secrets', 'Namespaced');

export interface ConfigMap extends KubeObject {
  data?: Record<string, string> | undefined;
}
export const ConfigMap = builtin<ConfigMap>('v1', 'ConfigMap', 'configmaps', 'Namespaced');

export const Namespace = builtin<KubeObject>('v1', 'Namespace', 'namespaces', 'Cluster');

/** coordination.k8s.io/v1; times are RFC 3339 with microseconds. */
export interface Lease extends KubeObject {
  spec?:
    | {
        holderIdentity?: string | undefined;
        leaseDurationSeconds?: number | undefined;
        acquireTime?: string | undefined;
        renewTime?: string | undefined;
        leaseTransitions?: number | undefined;
      }
    | undefined;
}
/** Urgent: if a renewal is late, the lease is lost. */
export const Lease: Kind<Lease> = {
  ...builtin<Lease>('coordination.k8s.io/v1', 'Lease', 'leases', 'Namespaced'),
  isUrgent: true,
};

/** events.k8s.io/v1. */
export interface Event extends KubeObject {
  eventTime: string;
  reportingController: string;
  reportingInstance: string;
  action: string;
  reason: string;
  note: string;
  type: 'Normal' | 'Warning';
  regarding: {
    apiVersion: string;
    kind: string;
    name: string;
    namespace?: string | undefined;
    uid?: string | undefined;
  };
  related?: { [Name in keyof Event['regarding']]?: Event['regarding'][Name] | undefined } | undefined;
  series?: { count: number; lastObservedTime: string } | undefined;
}
export const Event = builtin<Event>('events.k8s.io/v1', 'Event', 'events', 'Namespaced');

export interface CustomResourceDefinition extends KubeObject {
  spec: Record<string, unknown>;
  status?: { conditions?: { type: string; status: string }[] | undefined } | undefined;
}
export const CustomResourceDefinition = builtin<CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  'Cluster',
);

export interface ValidatingAdmissionPolicy extends KubeObject {
  spec: Record<string, unknown>;
}
export const ValidatingAdmissionPolicy = builtin<ValidatingAdmissionPolicy>(
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicy',
  'validatingadmissionpolicies',
  'Cluster',
);

export interface ValidatingAdmissionPolicyBinding extends KubeObject {
  spec: Record<string, unknown>;
}
export const ValidatingAdmissionPolicyBinding = builtin<ValidatingAdmissionPolicyBinding>(
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicyBinding',
  'validatingadmissionpolicybindings',
  'Cluster',
);
