import { installAdmissionRules, installKinds } from '@metal/kube/client/install-kinds.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { AdmissionRule } from '@metal/kube/kinds/admission.ts';
import {
  CustomResourceDefinition,
  Event,
  Namespace,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@metal/kube/kinds/builtin.ts';
import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import type { Kind } from '@metal/kube/kinds/kind.ts';
import { DemoFailed } from './demo-failed.ts';

/** Of claims, hosts, secrets and the operator of a demo in an existing cluster. */
export const demoNamespace = 'metal-demo';

/** What a demo uses in an existing cluster, and what of it is not there yet. */
export interface InstallPlan {
  readonly kinds: readonly DefinedKind[];
  readonly missingKinds: readonly DefinedKind[];
  readonly missingRules: readonly AdmissionRule[];
  /** UIDs of events about earlier objects of these kinds. */
  readonly earlierEvents: ReadonlySet<string>;
}

/** @throws DemoFailed if the cluster has objects of these kinds, which may be real servers, or the namespace. */
export async function planInstall(
  client: KubeClient,
  kinds: readonly DefinedKind[],
  rules: readonly AdmissionRule[],
): Promise<InstallPlan> {
  const isMissing = async (kind: Kind, name: string) => (await client.find(kind, { name })) === undefined;
  if (!(await isMissing(Namespace, demoNamespace)))
    throw new DemoFailed(
      `expected no namespace ${demoNamespace} in the cluster, found one; another demo runs, or was killed: remove it with kubectl delete namespace ${demoNamespace}`,
    );
  const missingKinds = await select(kinds, (kind) => isMissing(CustomResourceDefinition, definitionOf(kind)));
  await requireNoObjects(
    client,
    kinds.filter((kind) => !missingKinds.includes(kind)),
  );
  const missingRules = await select(rules, async ({ name }) => {
    const objects = [ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding];
    return (await Promise.all(objects.map((kind) => isMissing(kind, name)))).every(Boolean);
  });
  const earlierEvents = new Set((await eventsAbout(client, kinds)).map(({ metadata }) => metadata.uid ?? ''));
  return { kinds, missingKinds, missingRules, earlierEvents };
}

async function requireNoObjects(client: KubeClient, kinds: readonly DefinedKind[]): Promise<void> {
  const counts = await Promise.all(
    kinds.map(async (kind) => ({ plural: kind.plural, count: (await client.list(kind)).items.length })),
  );
  const found = counts.filter(({ count }) => count > 0).map(({ plural, count }) => `${count} ${plural}`);
  if (found.length > 0)
    throw new DemoFailed(
      `expected no objects of metal-operator in the cluster, found ${found.join(', ')}; the operator of the demo would act on them: use a cluster without`,
    );
}

export async function eventsAbout(client: KubeClient, kinds: readonly DefinedKind[]): Promise<Event[]> {
  const groups = new Set(kinds.map(({ group }) => group));
  const { items } = await client.list(Event);
  return items.filter(({ regarding }) => groups.has(regarding.apiVersion.split('/')[0] ?? ''));
}

/** First: of two demos that start at once, one gets it. */
export async function createDemoNamespace(client: KubeClient): Promise<void> {
  await client.create(Namespace, { metadata: { name: demoNamespace } });
}

export async function installMissing(client: KubeClient, { kinds, missingRules }: InstallPlan): Promise<void> {
  await installKinds(client, kinds);
  await installAdmissionRules(client, missingRules);
}

/** Text for the person who has to agree. */
export function describePlan(plan: InstallPlan, { server, context }: { server: string; context: string }): string {
  const { kinds, missingKinds, missingRules } = plan;
  const names = (list: readonly { plural: string }[]) => list.map(({ plural }) => plural).join(', ');
  const present = kinds.filter((kind) => !missingKinds.includes(kind));
  return [
    'The demo runs in an existing cluster:',
    `  server      ${server}`,
    `  context     ${context}`,
    'It creates there, and removes at its end:',
    `  namespace   ${demoNamespace}`,
    `  kinds       ${missingKinds.length} CustomResourceDefinitions: ${names(missingKinds)}`,
    `  admission   ${missingRules.length} ValidatingAdmissionPolicies with their bindings`,
    '  objects     simulated servers, and all other objects of these kinds; events about them',
    ...(present.length > 0 ? [`These kinds are there and stay, without objects: ${names(present)}`] : []),
    'BMCs, machines and the operator run on this computer.',
  ].join('\n');
}

export const definitionOf = ({ plural, group }: Kind): string => `${plural}.${group}`;

async function select<T>(items: readonly T[], holds: (item: T) => Promise<boolean>): Promise<T[]> {
  const results = await Promise.all(items.map(holds));
  return items.filter((_, index) => results[index]);
}
