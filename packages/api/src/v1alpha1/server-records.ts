import * as z from 'zod';
import { time } from '../common/fields.ts';

/** The record of a server that leaves the fleet, or has left it. */
export const decommission = z.object({
  operation: z.string().describe('Requested operation: decommission or force-decommission.'),
  requestedTime: time().describe('Time of the request.'),
  cleanup: z
    .enum(['Cleaned', 'Waived', 'None'])
    .optional()
    .describe('Result of the last cleanup. None: the policy requests nothing.'),
  erasureReport: z
    .string()
    .optional()
    .describe('ErasureReport of the last cleanup, with its certificate or its waiver.'),
  bmcReset: z
    .enum(['Accepted', 'Unknown'])
    .optional()
    .describe('Reset of the BMC to factory settings. Unknown: the response to the request was lost.'),
  completedTime: time().optional().describe('Time at which the server was decommissioned.'),
});

export const failure = z.object({
  reason: z.string().describe('Machine-readable reason (CamelCase).'),
  message: z.string().describe('Human-readable message: the failed operation and the remedy.'),
});
