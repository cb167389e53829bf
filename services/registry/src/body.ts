import type * as z from 'zod';
import { HttpError } from './http-error.ts';

/** Parses a request body at the door. @throws Refusal naming the fields that are wrong. */
export function parseBody<Schema extends z.ZodType>(bytes: Uint8Array, schema: Schema): z.output<Schema> {
  const result = check(jsonOf(bytes), schema);
  if (result.success) return result.data;
  const [first, ...more] = result.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  throw new HttpError(
    'ReportInvalid',
    `${first ?? 'body: invalid'}${more.length > 0 ? ` (and ${more.length} more)` : ''}`.slice(0, 300),
  );
}

function check<Schema extends z.ZodType>(value: unknown, schema: Schema): z.ZodSafeParseResult<z.output<Schema>> {
  try {
    return schema.safeParse(value);
  } catch (cause) {
    // Thousands of brackets within each other exhaust the stack.
    throw new HttpError('BodyMalformed', 'the body is nested too deeply', { cause });
  }
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    // The parser's own words would repeat parts of the body.
    throw new HttpError('BodyMalformed', `the body is not JSON (${bytes.length} bytes)`, { cause });
  }
}
