import type * as z from 'zod';
import type { processor } from '../schemas.ts';

export interface Processor {
  readonly id: string;
  readonly type: string | undefined;
  readonly architecture: string | undefined;
  readonly instructionSet: string | undefined;
  readonly manufacturer: string | undefined;
  readonly model: string | undefined;
  readonly maxSpeedMHz: number | undefined;
  readonly totalCores: number | undefined;
  readonly totalThreads: number | undefined;
  readonly serialNumber?: string | undefined;
}

export const processorOf = (item: z.output<typeof processor>, index: number): Processor => ({
  id: item.Id ?? String(index),
  type: item.ProcessorType,
  architecture: item.ProcessorArchitecture,
  instructionSet: item.InstructionSet,
  manufacturer: item.Manufacturer,
  model: item.Model,
  maxSpeedMHz: item.MaxSpeedMHz,
  totalCores: item.TotalCores,
  totalThreads: item.TotalThreads,
  serialNumber: item.SerialNumber,
});
