import { type ErasureOrder, erasureOrder, erasureOrderFile } from '@metal/api/wire/erasure.ts';
import * as z from 'zod';
import { ProbeError } from '../errors.ts';

/**
 * The order as it stands in the file of the ignition.
 * @throws ProbeError `OrderInvalid`: nothing may be erased on an order that is only half understood.
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
    message: `${erasureOrderFile} is no order to erase disks: ${reason}`,
    cause,
  });
