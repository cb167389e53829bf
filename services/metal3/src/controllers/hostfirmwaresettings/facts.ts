import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import type { Metal3Context } from '../../context.ts';
import { schemaName } from '../../firmware/schema-name.ts';
import { isOwnedBy } from '../../objects/owner-references.ts';
import { type FirmwareSettings, NotSupported } from '../../provisioner/node-services.ts';
import { type Comparison, hasReportedProblem } from '../../siblings/firmware-status.ts';
import { type HostBlocker, hostBlockerOf } from '../../siblings/host-blocker.ts';
import { type NodeReadings, nextReading, type Reading, subjectOf } from '../../siblings/node-reading.ts';
import { compareSettings } from './compare-settings.ts';

export type SettingsPhase = 'Present';
export type SettingsAction = 'readSettings' | 'shareSchema' | 'recordProblems';

export interface SettingsFacts {
  readonly host: BareMetalHost | undefined;
  readonly subject: string;
  readonly blocker: HostBlocker | undefined;
  /** The values for this generation and this machine; undefined before they were read. */
  readonly reading: Reading<FirmwareSettings> | undefined;
  readonly comparison: Comparison;
  readonly next: { readonly inMs: number; readonly failure: string | undefined };
  /** Undefined if the machine describes no setting. */
  readonly schemaName: string | undefined;
  /** The FirmwareSchema exists, and is kept as long as this object. */
  readonly hasSchema: boolean;
  readonly hasNewProblems: boolean;
}

export interface SettingsMemory extends NodeReadings<FirmwareSettings> {
  /** Problems that this process has recorded events about. */
  recorded: string | undefined;
}

export const newMemory = (): SettingsMemory => ({ last: undefined, failure: undefined, recorded: undefined });

const unchanged: Comparison = { isChanged: false, problems: [] };

export function readSettingsFacts(
  object: HostFirmwareSettings,
  { caches, firmwareReads }: Metal3Context,
  { now, memory }: { readonly now: number; readonly memory: Readonly<SettingsMemory> },
): SettingsFacts {
  const { name, namespace } = object.metadata;
  const host = caches.hosts.get(object.metadata);
  const subject = subjectOf(object, host);
  const reading = memory.last?.subject === subject ? memory.last : undefined;
  const comparison = reading === undefined ? unchanged : compareSettings(object.spec.settings, reading.result);
  const found = reading === undefined || reading.result instanceof NotSupported ? undefined : reading.result;
  const describes = found !== undefined && Object.keys(found.schema).length > 0;
  const shared = describes ? schemaName(found.schema) : undefined;
  const schema = shared === undefined ? undefined : caches.firmwareSchemas.get({ namespace, name: shared });
  const changedAt = host === undefined ? undefined : firmwareReads.appliedAt(host);
  return {
    host,
    subject,
    blocker: hostBlockerOf(name, host),
    reading,
    comparison,
    next: nextReading(memory, { now, name, subject, isChanged: comparison.isChanged, changedAt }),
    schemaName: shared,
    hasSchema: shared === undefined || (schema !== undefined && isOwnedBy(schema, object)),
    hasNewProblems:
      comparison.problems.length > 0 &&
      Object.keys(found?.settings ?? {}).length > 0 &&
      memory.recorded !== comparison.problems.join('\n') &&
      !hasReportedProblem(object),
  };
}
