import { type ErasureOrder, erasureOrder, erasureOrderFile } from '@metal/api/wire/erasure.ts';
import * as z from 'zod';
import { ProbeError } from '../errors.ts';

/**
 * Parses the order in the ignition file.
 * @throws ProbeError `OrderInvalid`: an order with an invalid part is rejected as a whole.
 */
export function readErasureOrder(text: string): ErasureOrder {
  const parsed = erasureOrder.safeParse(jsonIn(text));
  if (parsed.success) return parsed.data;
  throw invalid(z.prettifyError(parsed.error).replaceAll(/\s*\n\s*/g, ' '), parsed.error);
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid(cause instanceof Error ? cause.message : String(cause), cause);
  }
}

const invalid = (reason: string, cause: unknown): ProbeError =>
  new ProbeError({
    code: 'OrderInvalid',
    retry: 'blocked',
    message: `${erasureOrderFile} is not a valid erasure order: ${reason}`,
    cause,
  });
