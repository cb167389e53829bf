import { currentBootRef } from '@metal/api/wire/current-boot.ts';
import type { SystemState } from '@metal/redfish/resources/systems.ts';
import type { OperatorContext } from '../../context.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { awaitsStart } from './configuration-facts.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';

export const isInForce = (override: SystemState['override'] | undefined): boolean =>
  (override?.enabled === 'Once' || override?.enabled === 'Continuous') &&
  override.target !== undefined &&
  override.target !== 'None';

export function bootMethodOf(server: Server, { caches }: OperatorContext): string | undefined {
  const ref = currentBootRef(server);
  return ref && caches.bootConfigurations.get(ref)?.status?.boot?.method;
}

export function pendingBootUidOf(
  server: Server,
  memory: ObservedSystem,
  { caches }: OperatorContext,
): string | undefined {
  const boot = caches.bootConfigurations.get(server.spec.bootConfigurationRef ?? '');
  return boot !== undefined && awaitsStart(boot, server, memory) ? boot.metadata.uid : undefined;
}
