import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { OperatorContext } from '../context.ts';

export type BootPhase = 'Unanswered' | 'Answered';
export type BootAction = never;

export interface BootConfigurationFacts {
  readonly state: string;
  /** Message of the boot service about its failure, if any. */
  readonly failure: string | undefined;
  /** Message of the boot service about its progress, if any. */
  readonly preparation: string | undefined;
  readonly serverExists: boolean;
  readonly serverName: string;
  readonly ageMs: number;
}

export function readBootConfigurationFacts(
  boot: ServerBootConfiguration,
  { caches }: OperatorContext,
  { now }: { now: number },
): BootConfigurationFacts {
  return {
    state: boot.status?.state ?? '',
    failure: boot.status?.conditions?.find(({ type, status }) => type !== 'Ready' && status === 'False')?.message,
    preparation: boot.status?.conditions?.find(({ status }) => status === 'Unknown')?.message,
    serverName: boot.spec.serverRef.name,
    serverExists: caches.servers.get(boot.spec.serverRef.name) !== undefined,
    ageMs: now - Date.parse(boot.metadata.creationTimestamp ?? ''),
  };
}
