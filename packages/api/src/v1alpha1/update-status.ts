import * as z from 'zod';
import { int32, int64, objectRef, plainConditions, time } from '../common/fields.ts';

/** Status fields that the kinds of settings and firmware share. */

/** Recorded before each request that changes a machine, so that the operator sends it once also after a restart. */
const attempt = () =>
  z
    .object({
      desired: z.string().optional().describe('SHA-256 of the desired state. A change of it begins another attempt.'),
      startTime: time()
        .optional()
        .describe('Time at which the attempt got its maintenance, or its present step began.'),
      step: z.string().optional().describe('Name of the step that is being applied.'),
      restart: z.enum(['None', 'Host', 'BMC']).optional().describe('What restarts for the change that was sent.'),
      bmcResetTime: time().optional().describe('Time at which the restart of the BMC before the work was requested.'),
      sendTime: time().optional().describe('Time just before the change was sent to the BMC.'),
      generation: int64().optional().describe('Generation of the spec that the attempt is for.'),
      acceptTime: time().optional().describe('Time at which the BMC accepted the change.'),
      installTime: time().optional().describe('Time at which the task of the BMC was complete.'),
      powerOffTime: time().optional().describe('Time at which the machine was seen off to apply the change.'),
      resetTime: time().optional().describe('Time at which the machine or the BMC was restarted to apply the change.'),
    })
    .optional()
    .describe('Progress of the attempt.');

const plan = () =>
  z
    .object({
      restart: z.enum(['None', 'Host', 'BMC']).describe('What has to restart for the changes.'),
      changes: z
        .array(
          z.object({
            name: z.string().describe('Attribute or component.'),
            from: z.string().optional().describe('Observed value.'),
            to: z.string().describe('Desired value.'),
          }),
        )
        .describe('The first 100 differences.'),
      total: int32().describe('Number of differences.'),
    })
    .optional()
    .describe('What the object changes. Values from Secrets are not shown.');

export const workStatus = () => ({
  state: z.string().optional().describe('State: Pending, InProgress, Completed/Applied or Failed.'),
  conditions: plainConditions(),
  failedAttempts: int32().optional().describe('Number of failed attempts.'),
  observedGeneration: int64().optional().describe('metadata.generation that the status was computed for.'),
  serverMaintenanceRefs: z
    .array(objectRef())
    .optional()
    .describe('ServerMaintenances that the operator created for the change.'),
  attempt: attempt(),
  failure: z
    .object({
      reason: z.string().describe('Reason.'),
      message: z.string().describe('What happened, in what state the machine is, and what to do.'),
      time: time().describe('Time of the failure.'),
      holdsMaintenance: z
        .boolean()
        .optional()
        .describe('True: the maintenance is kept, because the change may still be running.'),
    })
    .optional()
    .describe('Why the last attempt failed.'),
  plan: plan(),
});

export const flowStatus = () => ({
  lastAppliedTime: time().optional().describe('Time at which the settings were last applied.'),
});

const upgradeTask = () =>
  z
    .object({
      URI: z.string().optional().describe('URI of the Redfish task.'),
      state: z.string().optional().describe('State.'),
      status: z.string().optional().describe('Status (health) of the task.'),
      percentageComplete: int32().optional().describe('Progress in percent.'),
    })
    .optional()
    .describe('Task of the upgrade in progress.');

export const versionStatus = () => ({
  upgradeTask: upgradeTask(),
  installedVersion: z.string().optional().describe('Version that was installed when the BMC was last compared.'),
});
