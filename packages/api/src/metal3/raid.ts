import * as z from 'zod';
import { defaulted } from '../common/fields.ts';
import { rootDeviceHints } from './fields.ts';

const size = () => z.int().min(0).optional().describe('Size in gibibytes. Absent: all space.');

const hardwareVolume = () =>
  z.object({
    controller: z.string().optional().describe('RAID controller. Required with physicalDisks.'),
    level: z.enum(['0', '1', '2', '5', '6', '1+0', '5+0', '6+0']).describe('RAID level.'),
    name: z.string().max(64).optional().describe('Name of the volume.'),
    numberOfPhysicalDisks: z.int().min(1).optional().describe('Number of disks.'),
    physicalDisks: z.array(z.string()).optional().describe('Disks, by the names that the controller uses.'),
    rotational: z.boolean().optional().describe('true: rotating disks only; false: other disks only.'),
    sizeGibibytes: size(),
  });

const softwareVolume = () =>
  z.object({
    level: z.enum(['0', '1', '1+0']).describe('RAID level.'),
    physicalDisks: z.array(rootDeviceHints()).min(2).optional().describe('Disks, one set of hints each.'),
    rootVolume: defaulted(z.boolean().describe('The image is written to this volume, which must have level 1.'), false),
    sizeGibibytes: size(),
  });

/** An absent list leaves the volumes alone, an empty one deletes them. */
export const raid = () =>
  z.object({
    hardwareRAIDVolumes: z
      .array(hardwareVolume())
      .nullable()
      .optional()
      .describe('Volumes of RAID controllers. Absent or null: not changed. Empty: all are deleted.'),
    softwareRAIDVolumes: z
      .array(softwareVolume())
      .max(2)
      .nullable()
      .optional()
      .describe('Volumes of software RAID. Absent or null: not changed. Empty: all are deleted.'),
  });
export type Raid = z.output<ReturnType<typeof raid>>;
