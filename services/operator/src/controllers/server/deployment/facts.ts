import type { DiskImage, PreparedDiskImage } from '@metal/api/common/disk-image.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { deploymentPreparedAnnotation } from '@metal/api/wire/contract.ts';
import { deploymentOf, isInternalBoot } from '@metal/api/wire/internal-boot.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import type { OperatorContext } from '../../context.ts';
import type { DeploymentReason } from '../../deployment-reasons.ts';
import { awaitsStart, type BootFacts, bootFactsOf, isProbeBootOf } from '../boot/configuration-facts.ts';
import { boundBootOf } from '../claim/facts.ts';
import { inventoryOf } from '../cleanup/disks.ts';
import { type Target, targetOf } from './hints.ts';

type Deployment = NonNullable<NonNullable<ServerBootConfiguration['status']>['deployment']>;

/** The disk image of the claim that holds the server. */
export interface DeploymentFacts {
  /** UID of the boot configuration with the image. */
  readonly uid: string;
  readonly spec: DiskImage;
  readonly image: PreparedDiskImage | undefined;
  readonly target: Target;
  /** The record for the present generation of the boot configuration. */
  readonly recorded: Deployment | undefined;
  /** The boot of the agent for this deployment. */
  readonly agentBoot: BootFacts | undefined;
  /** Another boot configuration of the operator has its name. */
  readonly otherBootLeft: boolean;
  /** Of the agent. */
  readonly report: Deployment | undefined;
  /** Somebody reported with the token of the agent before the machine was started. */
  readonly isReportEarly: boolean;
  /** Since the preparation or the last report. */
  readonly noProgressForMs: number;
  readonly timeoutMs: number;
}

export function deploymentFacts(
  server: Server,
  memory: ObservedSystem,
  context: OperatorContext,
  { now, inPhaseForMs }: { now: number; inPhaseForMs: number },
): DeploymentFacts | undefined {
  const { caches, config } = context;
  const boot = boundBootOf(server, memory, caches);
  if (boot?.spec.diskImage === undefined) return undefined;
  const { metadata, spec, status } = boot;
  const { name } = server.metadata;
  const found = caches.bootConfigurations.get({ namespace: config.managerNamespace, name });
  const isAgent = found !== undefined && isProbeBootOf(found, server) && deploymentOf(found) === metadata.uid;
  const agent = isAgent ? found : undefined;
  const report = agent?.status?.deployment;
  const image = status?.diskImage?.observedGeneration === metadata.generation ? status?.diskImage : undefined;
  return {
    uid: metadata.uid ?? '',
    spec: boot.spec.diskImage,
    image,
    target: targetIn(server, context, spec.diskImage, image),
    recorded: status?.deployment?.observedGeneration === metadata.generation ? status?.deployment : undefined,
    agentBoot: agent && bootFactsOf(agent, server, now),
    otherBootLeft: agent === undefined && found !== undefined && isInternalBoot(found),
    report,
    isReportEarly: report !== undefined && awaitsStart(memory),
    // A maintenance may have interrupted it.
    noProgressForMs: Math.min(inPhaseForMs, msSinceProgress(agent, now)),
    timeoutMs: config.cleanupTimeoutMs,
  };
}

function targetIn(
  server: Server,
  { caches }: OperatorContext,
  spec: DiskImage | undefined,
  image: PreparedDiskImage | undefined,
): Target {
  const none = (reason: DeploymentReason, message: string): Target => ({ kind: 'none', reason, message });
  const inventory = inventoryOf(server, caches.inventories.get(server.metadata.name));
  if (inventory === undefined) return none('DisksUnknown', 'no ServerInventory lists the disks of the server');
  const target = targetOf(inventory.spec.report.storage, spec?.rootDeviceHints);
  if (target.kind === 'none' || image === undefined || image.sizeBytes <= target.disk.sizeBytes) return target;
  const { name, sizeBytes } = target.disk;
  return none('ImageLargerThanDisk', `the image has ${image.sizeBytes} bytes, and ${name} has ${sizeBytes}`);
}

/** Not negative: the clock of the registry may be ahead. */
function msSinceProgress(agent: ServerBootConfiguration | undefined, now: number): number {
  if (agent === undefined) return 0;
  const times = [agent.metadata.annotations?.[deploymentPreparedAnnotation], agent.status?.deployment?.time];
  return Math.max(0, now - Math.max(0, ...times.map((time) => Date.parse(time ?? '') || 0)));
}
