import * as z from 'zod';

/** Erasure of the disks between two claims, in the terms of NIST SP 800-88 Rev. 1. */
export const erasureModes = ['None', 'Metadata', 'Clear', 'Purge'] as const;
export type ErasureMode = (typeof erasureModes)[number];

/** Reset of settings between two claims. */
export const settingResets = ['None', 'Reset'] as const;
export type SettingReset = (typeof settingResets)[number];

/** Path of the erasure order in the ignition of a cleanup boot. */
export const erasureOrderFile = '/etc/metalprobe/erasure.json';

const count = z.int().min(0);
const bytes = z.int().min(0).meta({ format: 'int64' });

/** Identity of a disk. A disk with neither serial number nor WWID is not erased. */
const identity = {
  serial: z.string().max(256).default('').describe('Serial number.'),
  wwid: z.string().max(256).default('').describe('World wide ID (WWID), if the disk has one.'),
  model: z.string().max(256).default('').describe('Model.'),
  sizeBytes: bytes.describe('Size in bytes.'),
};

export const orderedDisk = z.object({ ...identity });
export type OrderedDisk = z.output<typeof orderedDisk>;

/**
 * The order: exactly these disks. A disk on the machine that is not in the order fails the attempt. In mode None the agent
 * reads no disk and only reports that the machine has started.
 */
export const erasureOrder = z
  .object({
    attempt: z.int().min(1),
    mode: z.enum(erasureModes),
    disks: z.array(orderedDisk).max(1_000),
  })
  .refine(({ mode, disks }) => mode !== 'None' || disks.length === 0, {
    path: ['mode'],
    error: 'expected no disks in mode None',
  });
export type ErasureOrder = z.output<typeof erasureOrder>;

/** In order of preference. The table of the agent maps modes to methods. */
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
  name: z.string().max(64).default('').describe('Kernel device name during the attempt.'),
  ...identity,
  method: z.enum(erasureMethods).optional().describe('Erasure method. Empty before the start.'),
  erasedBytes: bytes.default(0).describe('Number of bytes erased so far.'),
  startedTime: z.string().max(64).optional().describe('Start time (RFC 3339), by the clock of the machine.'),
  finishedTime: z.string().max(64).optional().describe('End time (RFC 3339), by the clock of the machine.'),
  samples: count.default(0).describe('Number of samples read back.'),
  verified: z.boolean().default(false).describe('True if no sample contained previous data.'),
  result: z.enum(['Pending', 'Running', 'Erased', 'Failed']).describe('Result: Pending, Running, Erased or Failed.'),
  message: z
    .string()
    .max(2_000)
    .default('')
    .describe('Error message, or the reason for which another method was not used.'),
  continuesByItself: z
    .boolean()
    .optional()
    .describe('True while the device executes a command on its own, which continues if the agent is stopped.'),
});
export type DiskErasure = z.output<typeof diskErasure>;

/**
 * Body of `POST <registry>/erasures`, with the token of the boot: `Running` any number of times, at most every few seconds,
 * then `Succeeded` or `Failed`, repeated until it is acknowledged. An agent whose report is rejected stops and tries to post
 * `Failed` with the progress of each disk; disks that it has not started are `Pending`.
 */
export const erasureReport = z.object({
  systemUUID: z.string().max(64),
  attempt: z.int().min(1),
  state: z.enum(['Running', 'Succeeded', 'Failed']),
  message: z.string().max(2_000).default(''),
  disks: z.array(diskErasure).max(1_000),
});
export type ErasureReportBody = z.output<typeof erasureReport>;
