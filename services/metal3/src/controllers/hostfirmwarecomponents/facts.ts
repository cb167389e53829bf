import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import type { Metal3Context } from '../../context.ts';
import type { FirmwareComponentState } from '../../provisioner/node-services.ts';
import { type Comparison, hasReportedProblem } from '../../siblings/firmware-status.ts';
import { type HostBlocker, hostBlockerOf } from '../../siblings/host-blocker.ts';
import { type NodeReadings, nextReading, type Reading, subjectOf } from '../../siblings/node-reading.ts';
import { compareUpdates } from './compare-updates.ts';

export type ComponentsPhase = 'Present';
export type ComponentsAction = 'readComponents' | 'recordProblems';

export interface ComponentsFacts {
  readonly host: BareMetalHost | undefined;
  readonly subject: string;
  readonly blocker: HostBlocker | undefined;
  /** The components for this generation and this machine; undefined before they were read. */
  readonly reading: Reading<readonly FirmwareComponentState[]> | undefined;
  readonly comparison: Comparison;
  readonly next: { readonly inMs: number; readonly failure: string | undefined };
  readonly hasNewProblems: boolean;
}

export interface ComponentsMemory extends NodeReadings<readonly FirmwareComponentState[]> {
  /** Problems that this process has recorded events about. */
  recorded: string | undefined;
}

export const newMemory = (): ComponentsMemory => ({ last: undefined, failure: undefined, recorded: undefined });

const unchanged: Comparison = { isChanged: false, problems: [] };

export function readComponentsFacts(
  object: HostFirmwareComponents,
  { caches, firmwareReads }: Metal3Context,
  { now, memory }: { readonly now: number; readonly memory: Readonly<ComponentsMemory> },
): ComponentsFacts {
  const { metadata, spec, status } = object;
  const { name } = metadata;
  const host = caches.hosts.get(metadata);
  const subject = subjectOf(object, host);
  const reading = memory.last?.subject === subject ? memory.last : undefined;
  const comparison = reading === undefined ? unchanged : compareUpdates(spec.updates, status?.updates, reading.result);
  const changedAt = host === undefined ? undefined : firmwareReads.appliedAt(host);
  return {
    host,
    subject,
    blocker: hostBlockerOf(name, host),
    reading,
    comparison,
    next: nextReading(memory, { now, name, subject, isChanged: comparison.isChanged, changedAt }),
    hasNewProblems:
      comparison.problems.length > 0 &&
      memory.recorded !== comparison.problems.join('\n') &&
      !hasReportedProblem(object),
  };
}
