import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { trustedCertificateAnnotation } from '@metal/api/wire/contract.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import type { Kind, KubeObject, ObjectMeta } from '@metal/kube/kinds/kind.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import type { OperatorConfig } from '../options.ts';

type Tls = NonNullable<BMC['spec']>['protocol']['tls'];

/** Fingerprint of the certificate that was recorded at the first connection to a BMC. */
export function recordedCertificateOf(
  { annotations }: Pick<ObjectMeta, 'annotations'>,
  { bmcTls }: Pick<OperatorConfig, 'bmcTls'>,
): string | undefined {
  const recorded = annotations?.[trustedCertificateAnnotation] ?? '';
  return bmcTls !== 'pin' || recorded === '' ? undefined : recorded;
}

/**
 * Fingerprint of the certificate that the BMC showed and that is to be recorded, before anything is sent to it. Undefined for any
 * error but that of a certificate that no known authority issued, and for a BMC with authorities of its own: its certificate was
 * expected to be of one of them.
 */
export function certificateToRecord(
  error: unknown,
  tls: Tls,
  { bmcTls }: Pick<OperatorConfig, 'bmcTls'>,
): string | undefined {
  if (bmcTls !== 'pin' || (tls?.caBundle ?? '') !== '') return undefined;
  return error instanceof RedfishError ? error.unknownCertificate : undefined;
}

/**
 * Records the certificate in the object of the BMC. Connections trust it as soon as they are made of the object that has it; the
 * resource version of the decision protects a record that another process made.
 */
export async function recordCertificate<T extends KubeObject>(
  kind: Kind<T>,
  reconcile: Reconcile<T, unknown, { readonly client: KubeClient }>,
  fingerprint: string,
): Promise<void> {
  const { object, context, log } = reconcile;
  const { name, resourceVersion } = object.metadata;
  const patch = { metadata: { annotations: { [trustedCertificateAnnotation]: fingerprint } } };
  await context.client.mergePatch(kind, { name }, patch, resourceVersion === undefined ? {} : { resourceVersion });
  const reason = 'CertificateTrusted';
  const note = `The first certificate ${fingerprint} is trusted from now on; compare it with the BMC`;
  log.info({ reason, fingerprint }, 'the first certificate of the BMC is trusted from now on');
  reconcile.recordEvent({ type: 'Normal', reason, action: 'RecordCertificate', note });
}
