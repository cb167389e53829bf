import * as z from 'zod';
import { pathOf } from './endpoint.ts';

/*
 * Properties as BMCs really send them: absent, null, empty, of another type. An unusable value is the same as an absent one. Only
 * a resource that is no object, or has no `@odata.id` where one is needed (`uri`), is rejected.
 */

/** A property that the standard does not require: absent, null and of another type are the same. */
const optional = <S extends z.ZodType>(schema: S) =>
  schema
    .nullish()
    .catch(undefined)
    .transform((value) => value ?? undefined);

/** `@odata.id`: the only required property, as a resource without one cannot be addressed. */
export const uri = z.string().regex(/\S/, 'expected the path of the resource, found an empty text');

/** A text that is not blank. */
export const text = optional(z.string()).transform((value) => value?.trim() || undefined);

export const flag = optional(z.boolean());

/** Zero or a positive number. */
export const amount = optional(z.number().nonnegative());

export const wholeNumber = amount.transform((value) => (value === undefined ? undefined : Math.round(value)));

/** For parts that every machine has, where zero means that the BMC does not know the amount. */
export const positiveAmount = amount.transform((value) => value || undefined);

export const positiveWholeNumber = wholeNumber.transform((value) => value || undefined);

const list = optional(z.array(z.unknown()));

export const texts = list.transform((values) => values?.filter((value) => typeof value === 'string'));

/** A reference to another resource, as a path. */
export const link = optional(z.object({ '@odata.id': uri })).transform((value) => value && pathOf(value['@odata.id']));

/** Entries of any shape; each is parsed by itself. */
export const entries = list.transform((values) => values ?? []);

/** Any value or none; parsed by its user. */
export const anything = z.unknown().optional();

/** An object whose properties are all optional; undefined when it is missing. */
export const optionalPart = <Shape extends z.ZodRawShape>(shape: Shape) => optional(z.object(shape));

/** An object whose properties are all optional; an empty one when it is missing. */
export const part = <Shape extends z.ZodRawShape>(shape: Shape) => z.preprocess(objectOrEmpty, z.object(shape));

const objectOrEmpty = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
