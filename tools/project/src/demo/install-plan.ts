import { metal3LeaseName } from '@metal/api/metal3/metal3-contract.ts';
import { leaderElectionLeaseName } from '@metal/api/wire/contract.ts';
import { waitUntilEstablished } from '@metal/kube/client/install-kinds.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { type AdmissionRule, toAdmissionObjects } from '@metal/kube/kinds/admission.ts';
import {
  CustomResourceDefinition,
  Lease,
  Namespace,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@metal/kube/kinds/builtin.ts';
import { toCustomResourceDefinition } from '@metal/kube/kinds/crd.ts';
import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import type { Kind, KubeObject, NewObject } from '@metal/kube/kinds/kind.ts';
import { DemoFailed } from './demo-failed.ts';
import { demoLabels, demoNamespace, isMarked } from './ownership.ts';

const freshMs = 120_000;
const mostNames = 3;

/** What a demo creates in an existing cluster. */
export interface InstallPlan {
  readonly kinds: readonly DefinedKind[];
  readonly rules: readonly AdmissionRule[];
}

/** @throws DemoFailed if the cluster has anything that the demo would create, or an operator. */
export async function requireUnused(client: KubeClient, { kinds, rules }: InstallPlan): Promise<void> {
  await requireNoOperator(client);
  const groups = new Set(kinds.map(({ group }) => group));
  const { items } = await client.list(CustomResourceDefinition);
  const definitions = items.filter(({ spec }) => groups.has(String(spec['group'])));
  const policies = await named(client, ValidatingAdmissionPolicy, rules);
  const bindings = await named(client, ValidatingAdmissionPolicyBinding, rules);
  const namespaces = await named(client, Namespace, [{ name: demoNamespace }]);
  const found = [...definitions, ...policies, ...bindings, ...namespaces];
  if (found.length === 0) return;
  const names = shortList(found.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
  if (found.every(isMarked))
    throw new DemoFailed(
      `expected a cluster without metal-operator, found what another demo has made: ${names}; wait for its end, or, if it was killed, repeat the command with --remove`,
    );
  throw new DemoFailed(
    `expected a cluster without metal-operator, found ${names}; the demo would act on what is there: use another cluster`,
  );
}

/** @throws DemoFailed if a replica has renewed its lease a short time ago. */
export async function requireNoOperator(client: KubeClient): Promise<void> {
  const { items } = await client.list(Lease);
  const [fresh] = items.filter(
    ({ metadata: { name }, spec }) =>
      (name.startsWith(leaderElectionLeaseName) || name.startsWith(metal3LeaseName)) &&
      (spec?.holderIdentity ?? '') !== '' &&
      Date.parse(spec?.renewTime ?? '') > Date.now() - freshMs,
  );
  if (fresh !== undefined)
    throw new DemoFailed(
      `expected no operator in the cluster, found the lease ${fresh.metadata.namespace}/${fresh.metadata.name} of ${fresh.spec?.holderIdentity}, renewed at ${fresh.spec?.renewTime}; stop that operator and wait ${freshMs / 1_000} s, or use another cluster`,
    );
}

function shortList(names: readonly string[]): string {
  const more = names.length - mostNames;
  return `${names.slice(0, mostNames).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

async function named<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  refs: readonly { name: string }[],
): Promise<T[]> {
  const names = new Set(refs.map(({ name }) => name));
  return (await client.list(kind)).items.filter(({ metadata }) => names.has(metadata.name));
}

/** First: of two demos that start at once, one gets it. */
export const createDemoNamespace = (client: KubeClient): Promise<void> =>
  createNew(client, Namespace, { metadata: { name: demoNamespace } });

/** @throws DemoFailed if one of the objects exists. */
export async function install(client: KubeClient, { kinds, rules }: InstallPlan, signal: AbortSignal): Promise<void> {
  for (const kind of kinds) {
    signal.throwIfAborted();
    await createNew(client, CustomResourceDefinition, toCustomResourceDefinition(kind));
  }
  await waitUntilEstablished(client, kinds);
  for (const [policy, binding] of rules.map(toAdmissionObjects)) {
    signal.throwIfAborted();
    await createNew(client, ValidatingAdmissionPolicy, policy);
    await createNew(client, ValidatingAdmissionPolicyBinding, binding);
  }
}

async function createNew<T extends KubeObject>(client: KubeClient, kind: Kind<T>, object: NewObject<T>): Promise<void> {
  const labels = { ...object.metadata.labels, ...demoLabels };
  try {
    await client.create(kind, { ...object, metadata: { ...object.metadata, labels } });
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'AlreadyExists') throw error;
    throw new DemoFailed(
      `expected no ${kind.singular} ${object.metadata.name} in the cluster, found one that was created a moment ago; it stays as it is: use a cluster that nothing else installs metal-operator in`,
    );
  }
}

/** Text for the person who has to agree. */
export function describePlan(
  { kinds, rules }: InstallPlan,
  { server, context }: { server: string; context: string },
): string {
  return [
    'The demo runs in an existing cluster:',
    `  server      ${server}`,
    `  context     ${context}`,
    'It creates there, and removes at its end:',
    `  namespace   ${demoNamespace}`,
    `  kinds       ${kinds.length} CustomResourceDefinitions: ${kinds.map(({ plural }) => plural).join(', ')}`,
    `  admission   ${rules.length} ValidatingAdmissionPolicies with their bindings`,
    '  objects     simulated servers, and what the operator makes for them; events about them',
    'Until then, create no objects of these kinds there: the demo stops if it sees one.',
    'BMCs, machines and the operator run on this computer.',
  ].join('\n');
}

export const definitionOf = ({ plural, group }: Kind): string => `${plural}.${group}`;
