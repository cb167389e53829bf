import * as z from 'zod';
import { pathOf } from './endpoint.ts';

/*
 * Fields as BMCs really send them: missing, null, empty, of another type. What cannot be used is absent; only a
 * resource that is no object at all is refused.
 */

/** A text that says something. */
export const text = z
  .string()
  .nullish()
  .catch(undefined)
  .transform((value) => value?.trim() || undefined);

export const flag = z
  .boolean()
  .nullish()
  .catch(undefined)
  .transform((value) => value ?? undefined);

/** Zero or a positive number. */
export const amount = z
  .number()
  .nonnegative()
  .nullish()
  .catch(undefined)
  .transform((value) => value ?? undefined);

export const wholeNumber = amount.transform((value) => (value === undefined ? undefined : Math.round(value)));

export const texts = z
  .array(z.unknown())
  .nullish()
  .catch(undefined)
  .transform((values) => values?.filter((value) => typeof value === 'string'));

/** A reference to another resource, as a path. */
export const link = z
  .object({ '@odata.id': z.string() })
  .nullish()
  .catch(undefined)
  .transform((value) => (value ? pathOf(value['@odata.id']) : undefined));

/** Entries of any shape, each to be judged by itself. */
export const entries = z
  .array(z.unknown())
  .nullish()
  .catch(undefined)
  .transform((values) => values ?? []);

/** An object whose fields are tolerant themselves; an empty one when it is missing. */
export const part = <Shape extends z.ZodRawShape>(shape: Shape) => z.preprocess(objectOrEmpty, z.object(shape));

const objectOrEmpty = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
