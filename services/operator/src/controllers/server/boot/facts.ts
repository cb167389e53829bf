import type { Server } from '@metal/api/v1alpha1/server.ts';
import { currentBootRef } from '@metal/api/wire/current-boot.ts';
import type { SystemState } from '@metal/redfish/resources/systems.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import type { OperatorContext } from '../../context.ts';
import { awaitsStart } from './configuration-facts.ts';

/** The next boot of the server, from its spec, the boot service and its BMC. */
export interface CurrentBootFacts {
  /** The server refers to a boot configuration, whether that exists or not. */
  readonly bootReferenced: boolean;
  /** UID of the referenced boot configuration, until the machine is started for the first time after its preparation. */
  readonly pendingBootUid: string | undefined;
  readonly bootRenewedMsAgo: number | undefined;
  /** How the boot service prepared what the server boots (iPXE, UefiHttp); undefined where no boot service reports it. */
  readonly bootMethod: string | undefined;
  /** BootSourceOverrideTarget values that the BMC allows; undefined where the BMC does not list them. */
  readonly bootTargets: readonly string[] | undefined;
  /** A boot override was in force at the last observation. */
  readonly overrideSeen: boolean;
}

export function currentBootFacts(
  server: Server,
  memory: ObservedSystem,
  context: OperatorContext,
  now: number,
): CurrentBootFacts {
  const override = memory.state?.value.override;
  return {
    bootReferenced: server.spec.bootConfigurationRef !== undefined,
    pendingBootUid: pendingBootUidOf(server, memory, context),
    bootRenewedMsAgo: memory.bootRenewedAt === undefined ? undefined : now - memory.bootRenewedAt,
    bootMethod: bootMethodOf(server, context),
    bootTargets: override?.targets,
    overrideSeen: isInForce(override),
  };
}

function pendingBootUidOf(server: Server, memory: ObservedSystem, { caches }: OperatorContext): string | undefined {
  const boot = caches.bootConfigurations.get(server.spec.bootConfigurationRef ?? '');
  return boot !== undefined && awaitsStart(memory) ? boot.metadata.uid : undefined;
}

function bootMethodOf(server: Server, { caches }: OperatorContext): string | undefined {
  const ref = currentBootRef(server);
  return ref && caches.bootConfigurations.get(ref)?.status?.boot?.method;
}

const isInForce = (override: SystemState['override'] | undefined): boolean =>
  (override?.enabled === 'Once' || override?.enabled === 'Continuous') &&
  override.target !== undefined &&
  override.target !== 'None';
