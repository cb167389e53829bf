import type { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import type { Metal3Context } from '../../context.ts';
import { readNode } from '../../siblings/node-reading.ts';
import { recordProblems } from '../../siblings/record-problems.ts';
import type { ComponentsAction, ComponentsFacts, ComponentsMemory } from './facts.ts';

type ComponentsReconcile = Reconcile<HostFirmwareComponents, ComponentsFacts, Metal3Context, ComponentsMemory>;

export const componentsActions: Record<ComponentsAction, (reconcile: ComponentsReconcile) => Promise<void>> = {
  readComponents,
  recordProblems,
};

async function readComponents({ facts, context, memory, now }: ComponentsReconcile): Promise<void> {
  const { host, subject } = facts;
  if (host === undefined) return;
  await readNode(memory, { at: now, subject }, async () => {
    const services = await context.backEnds.of(host).servicesOf(host);
    return services.readFirmwareComponents();
  });
}
