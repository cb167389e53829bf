import * as z from 'zod';

/** What is done to the disks of a machine between two owners, by the words of NIST SP 800-88 Rev. 1. */
export const erasureModes = ['None', 'Metadata', 'Clear', 'Purge'] as const;
export type ErasureMode = (typeof erasureModes)[number];

/** What is done to settings of a machine between two owners. */
export const settingResets = ['None', 'Reset'] as const;
export type SettingReset = (typeof settingResets)[number];

/** Path, in the ignition of a cleanup boot, of the order for the agent. */
export const erasureOrderFile = '/etc/metalprobe/erasure.json';

const count = z.int().min(0);
const bytes = z.int().min(0).meta({ format: 'int64' });

/** What tells a disk from every other one. Serial number or WWID is there, or the disk is not erased. */
const identity = {
  serial: z.string().max(256).default('').describe('Serial number.'),
  wwid: z.string().max(256).default('').describe('Name that is unique in the world, where it has one.'),
  model: z.string().max(256).default('').describe('What it is.'),
  sizeBytes: bytes.describe('Size in bytes.'),
};

export const orderedDisk = z.object({ ...identity });
export type OrderedDisk = z.output<typeof orderedDisk>;

/**
 * The order: these disks and no others. A disk that is there and not in the order stops the attempt. In mode None no disk
 * is looked at: the machine tells that it started, and that is all.
 */
export const erasureOrder = z
  .object({
    attempt: z.int().min(1),
    mode: z.enum(erasureModes),
    disks: z.array(orderedDisk).max(1_000),
  })
  .refine(({ mode, disks }) => mode !== 'None' || disks.length === 0, {
    path: ['mode'],
    error: 'in mode None no disk is ordered',
  });
export type ErasureOrder = z.output<typeof erasureOrder>;

/** In order of preference; which of them a mode allows is the agent's table. */
export const erasureMethods = [
  'NVMeSanitizeCrypto',
  'NVMeSanitizeBlock',
  'NVMeFormatCrypto',
  'NVMeFormat',
  'ATASecureEraseEnhanced',
  'ATASecureErase',
  'Discard',
  'Overwrite',
  'Metadata',
] as const;
export type ErasureMethod = (typeof erasureMethods)[number];

export const diskErasure = z.object({
  name: z.string().max(64).default('').describe('Name the kernel gave it during the attempt.'),
  ...identity,
  method: z.enum(erasureMethods).optional().describe('How it was erased; empty before it began.'),
  erasedBytes: bytes.default(0).describe('Bytes that the method has covered so far.'),
  startedTime: z.string().max(64).optional().describe('When it began, RFC 3339, by the clock of the machine.'),
  finishedTime: z.string().max(64).optional().describe('When it ended.'),
  samples: count.default(0).describe('Places that were read back.'),
  verified: z.boolean().default(false).describe('All places that were read back held nothing of before.'),
  result: z.enum(['Pending', 'Running', 'Erased', 'Failed']).describe('How far it came.'),
  message: z.string().max(2_000).default('').describe('What went wrong, or why another method was not taken.'),
  continuesByItself: z
    .boolean()
    .optional()
    .describe('The device carries a command out by itself, to its end, whoever stops the agent.'),
});
export type DiskErasure = z.output<typeof diskErasure>;

/**
 * What the agent posts to `<registry>/erasures` with the token of its boot: `Running` any number of times, at most
 * every few seconds, and in the end `Succeeded` or `Failed` once, repeated until it is acknowledged. An agent that is refused
 * stops, and tries to post `Failed` with how far each disk is: disks that it never began are `Pending`.
 */
export const erasureReport = z.object({
  systemUUID: z.string().max(64),
  attempt: z.int().min(1),
  state: z.enum(['Running', 'Succeeded', 'Failed']),
  message: z.string().max(2_000).default(''),
  disks: z.array(diskErasure).max(1_000),
});
export type ErasureReportBody = z.output<typeof erasureReport>;
