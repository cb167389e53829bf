import * as z from 'zod';

/** In the status of a Server, while a maintenance has it. */
export const maintenanceRecord = z
  .object({
    bootConfigurationUID: z
      .string()
      .optional()
      .describe('UID of the ServerBootConfiguration of the maintenance that the machine was started for.'),
    indicatorLED: z.string().optional().describe('State of the locator LED before the maintenance changed it.'),
    bootOrder: z.array(z.string()).optional().describe('Boot order before the maintenance.'),
    health: z.string().optional().describe('Health of the machine before the maintenance.'),
    parts: z
      .array(z.string())
      .optional()
      .describe('Parts of an unclaimed server before the maintenance, each as place and identity.'),
  })
  .describe('Facts from before the maintenance in progress, to be restored or compared after it.');
