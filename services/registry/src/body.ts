import type * as z from 'zod';
import { RegistryError } from './registry-error.ts';

/** Parses a request body. @throws RegistryError that names the invalid fields */
export function parseBody<Schema extends z.ZodType>(bytes: Uint8Array, schema: Schema): z.output<Schema> {
  const result = check(jsonOf(bytes), schema);
  if (result.success) return result.data;
  const [first, ...more] = result.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  throw new RegistryError(
    'ReportInvalid',
    `${first ?? 'body: invalid'}${more.length > 0 ? ` (and ${more.length} more)` : ''}`.slice(0, 300),
  );
}

function check<Schema extends z.ZodType>(value: unknown, schema: Schema): z.ZodSafeParseResult<z.output<Schema>> {
  try {
    return schema.safeParse(value);
  } catch (cause) {
    // Thousands of nested brackets exhaust the stack.
    throw new RegistryError('BodyMalformed', 'the body is nested too deeply', { cause });
  }
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    // The message of the parser quotes the body.
    throw new RegistryError('BodyMalformed', `the body is not JSON (${bytes.length} bytes)`, { cause });
  }
}
