import { discoveryAttemptAnnotation } from '@metal/api/wire/contract.ts';
import { readInventory as readHardware } from '@metal/redfish/resources/inventory.ts';
import type { SystemState } from '@metal/redfish/resources/systems.ts';
import { prepareBoot } from '../boot/internal-boot.ts';
import { abortWith, memoryOf, onlyTo, type ServerReconcile, systemUriOf, withBmc } from '../machine.ts';

export async function readInventory(reconcile: ServerReconcile): Promise<void> {
  const uri = await systemUriOf(reconcile);
  const { clock } = reconcile.context;
  const memory = memoryOf(reconcile);
  const onSystem = (state: SystemState) => memory.record(state, clock.now());
  const value = await withBmc(reconcile, (bmc) =>
    readHardware(bmc, uri, { ...onlyTo(reconcile), ...abortWith(reconcile), onSystem }),
  );
  memory.inventory = { value, at: clock.now() };
}

export function prepareProbeBoot(reconcile: ServerReconcile): Promise<void> {
  return prepareBoot(reconcile, {
    annotations: { [discoveryAttemptAnnotation]: String(reconcile.facts.discoveryAttempts + 1) },
    tokenValidMs: reconcile.context.config.discoveryTimeoutMs,
    files: [],
  });
}
