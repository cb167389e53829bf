import { type ErasureOrder, erasureOrder, erasureOrderFile } from '@metal/api/wire/erasure.ts';
import * as z from 'zod';
import { ProbeError } from '../errors.ts';

/**
 * Parses the order in the ignition file.
 * @throws ProbeError `OrderInvalid`: an order with an invalid part is rejected as a whole.
 */
export const readErasureOrder = (text: string): ErasureOrder =>
  parseOrder(text, erasureOrder, { file: erasureOrderFile, name: 'erasure order' });

interface OrderSource {
  readonly file: string;
  readonly name: string;
}

/** @throws ProbeError `OrderInvalid` */
export function parseOrder<T>(text: string, schema: z.ZodType<T>, source: OrderSource): T {
  const parsed = schema.safeParse(jsonIn(text, source));
  if (parsed.success) return parsed.data;
  throw invalid(z.prettifyError(parsed.error).replaceAll(/\s*\n\s*/g, ' '), parsed.error, source);
}

function jsonIn(text: string, source: OrderSource): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid(cause instanceof Error ? cause.message : String(cause), cause, source);
  }
}

const invalid = (reason: string, cause: unknown, { file, name }: OrderSource): ProbeError =>
  new ProbeError({
    code: 'OrderInvalid',
    retry: 'blocked',
    message: `${file} is not a valid ${name}: ${reason}`,
    cause,
  });
