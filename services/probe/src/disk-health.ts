import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import * as z from 'zod';
import type { RunProgram } from './environment.ts';

export type DiskHealth = NonNullable<ProbeReport['storage'][number]['health']>;

const number = z.number().optional().catch(undefined);
const part = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.object(shape).partial().optional().catch(undefined);

/** The parts of smartctl's output that all disk types share, and the wear indicator of each type. */
const smartctl = z.object({
  smart_status: part({ passed: z.boolean().optional().catch(undefined) }),
  temperature: part({ current: number }),
  power_on_time: part({ hours: number }),
  endurance_used: part({ current_percent: number }),
  nvme_smart_health_information_log: part({ percentage_used: number }),
  scsi_percentage_used_endurance_indicator: number,
  ata_device_statistics: part({
    pages: z
      .array(z.object({ table: z.array(z.object({ name: z.string(), value: z.number() }).partial()) }).partial())
      .optional()
      .catch(undefined),
  }),
});

/** Reads the SMART health. Unknown for virtual disks, broken disks and disks behind some controllers. */
export async function readDiskHealth(name: string, run: RunProgram, signal: AbortSignal): Promise<DiskHealth> {
  const output = await run('smartctl', ['-j', '-a', `/dev/${name}`], signal).catch(outputOfFailure);
  signal.throwIfAborted();
  return diskHealthFrom(output);
}

/** smartctl exits with an error for a failing disk; its output is valid nevertheless. */
const outputOfFailure = (error: unknown): string =>
  error instanceof Error && 'stdout' in error && typeof error.stdout === 'string' ? error.stdout : '';

/** @param output What `smartctl -j -a` printed. */
export function diskHealthFrom(output: string): DiskHealth {
  const parsed = smartctl.safeParse(parse(output));
  if (!parsed.success) return { status: 'unknown' };
  const attributes = parsed.data;
  const passed = attributes.smart_status?.passed;
  const measures = {
    temperatureCelsius: attributes.temperature?.current,
    powerOnHours: attributes.power_on_time?.hours,
    percentageUsed: percentageUsedIn(attributes),
  };
  const known = Object.entries(measures).filter(([, value]) => value !== undefined && fitsInt32(value));
  return { status: passed === undefined ? 'unknown' : passed ? 'passed' : 'failed', ...Object.fromEntries(known) };
}

const percentageUsedIn = (attributes: z.output<typeof smartctl>): number | undefined =>
  attributes.endurance_used?.current_percent ??
  attributes.nvme_smart_health_information_log?.percentage_used ??
  attributes.scsi_percentage_used_endurance_indicator ??
  attributes.ata_device_statistics?.pages
    ?.flatMap(({ table = [] }) => table)
    .find(({ name }) => name === 'Percentage Used Endurance Indicator')?.value;

/** Faulty firmware reports numbers out of range. */
const fitsInt32 = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < 2 ** 31;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
