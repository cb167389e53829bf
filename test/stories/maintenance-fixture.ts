import assert from 'node:assert/strict';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { maintenanceApprovedLabel } from '@metal/api/wire/contract.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Testenv } from '@metal/testenv/testenv.ts';

export const namespace = 'default';
export const serverNameOf = ({ name }: Node): string => `${name}-system-0`;
/** The image of a vendor's tool. */
export const toolTemplate = { name: 'unused', spec: { serverRef: { name: '' }, image: 'registry.test/os:2' } };

export async function availableNodes(testenv: Testenv, count: number): Promise<Node[]> {
  const nodes = await testenv.addNodes({ generic: count });
  await testenv.plugIn(...nodes);
  for (const node of nodes) await testenv.server(node).hasReason('Available');
  return nodes;
}

export async function availableNode(testenv: Testenv): Promise<Node> {
  const [node] = await availableNodes(testenv, 1);
  assert.ok(node);
  return node;
}

export const maintain = (
  testenv: Testenv,
  node: Node,
  name: string,
  spec: Partial<ServerMaintenance['spec']> = {},
): Promise<ServerMaintenance> =>
  testenv.client.create(ServerMaintenance, {
    metadata: { name, namespace },
    spec: { serverRef: { name: serverNameOf(node) }, ...spec },
  });

export const endMaintenance = (testenv: Testenv, name: string): Promise<void> =>
  testenv.client.delete(ServerMaintenance, { namespace, name });

export const approve = (testenv: Testenv, claim: string) =>
  testenv.claims.patch(claim, { metadata: { labels: { [maintenanceApprovedLabel]: 'true' } } });

/** States of the server since it was Available first, by its history, each once in a row. */
export function statesOf(testenv: Testenv, node: Node): string[] {
  const states = testenv.server(node).now?.status?.history?.map(({ state }) => state) ?? [];
  return states.slice(states.indexOf('Available')).filter((state, index, rest) => state !== rest[index - 1]);
}
