import * as z from 'zod';
import { amount, entries, flag, link, optionalPart, part, positiveAmount, text, texts, uri } from './fields.ts';

/** The used properties of tasks and firmware updates, with the names of the standard. */

/** A task, and a job of the JobService. */
export const task = part({
  '@odata.id': text,
  '@odata.type': text,
  Id: text,
  Name: text,
  TaskState: text,
  TaskStatus: text,
  JobState: text,
  JobStatus: text,
  PercentComplete: amount,
  Messages: entries,
  Payload: part({ TargetUri: text }),
  TaskMonitor: text,
  /** A link to the task, in answers of Dell. */
  Task: part({ '@odata.id': text }),
  error: optionalPart({ message: text, '@Message.ExtendedInfo': entries }),
});
export type TaskResource = z.output<typeof task>;
export const taskMessage = z.object({
  MessageId: text,
  Message: text,
  MessageArgs: texts,
  Severity: text,
  MessageSeverity: text,
});
export const taskService = z.object({ Tasks: link });

const applyTimes = part({ SupportedValues: texts });

export const updateService = z.object({
  ServiceEnabled: flag,
  HttpPushUri: text,
  MultipartHttpPushUri: text,
  MaxImageSizeBytes: positiveAmount,
  FirmwareInventory: link,
  '@Redfish.OperationApplyTimeSupport': applyTimes,
  Actions: part({
    '#UpdateService.SimpleUpdate': optionalPart({
      target: text,
      'TransferProtocol@Redfish.AllowableValues': texts,
      '@Redfish.ActionInfo': text,
      '@Redfish.OperationApplyTimeSupport': applyTimes,
    }),
  }),
});
export type UpdateServiceResource = z.output<typeof updateService>;

export const softwareInventory = z.object({
  '@odata.id': uri,
  Id: text,
  Name: text,
  Version: text,
  Manufacturer: text,
  SoftwareId: text,
  Updateable: flag,
  Staged: flag,
  Status: part({ State: text }),
  RelatedItem: entries,
});
export type SoftwareInventoryResource = z.output<typeof softwareInventory>;
