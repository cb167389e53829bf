import * as z from 'zod';
import { pathOf } from './endpoint.ts';

/*
 * Properties as BMCs really send them: absent, null, empty, of another type. What cannot be used is absent. Only a resource that
 * is no object, or lacks what the standard requires and we cannot do without (`uri`), is refused.
 */

/** A property that the standard does not require: absent, null and of another type are all the same. */
const optional = <S extends z.ZodType>(schema: S) =>
  schema
    .nullish()
    .catch(undefined)
    .transform((value) => value ?? undefined);

/** The address of a resource: the one property that is required, as nothing can be done with a resource that has none. */
export const uri = z.string().regex(/\S/, 'expected the path of the resource, found an empty text');

/** A text that says something. */
export const text = optional(z.string()).transform((value) => value?.trim() || undefined);

export const flag = optional(z.boolean());

/** Zero or a positive number. */
export const amount = optional(z.number().nonnegative());

export const wholeNumber = amount.transform((value) => (value === undefined ? undefined : Math.round(value)));

/** Of what every machine has, zero means that the BMC does not know how much. */
export const positiveAmount = amount.transform((value) => value || undefined);

export const positiveWholeNumber = wholeNumber.transform((value) => value || undefined);

const list = optional(z.array(z.unknown()));

export const texts = list.transform((values) => values?.filter((value) => typeof value === 'string'));

/** A reference to another resource, as a path. */
export const link = optional(z.object({ '@odata.id': uri })).transform((value) => value && pathOf(value['@odata.id']));

/** Entries of any shape, each to be judged by itself. */
export const entries = list.transform((values) => values ?? []);

/** Anything, also nothing: judged where it is used. */
export const anything = z.unknown().optional();

/** An object whose properties are all optional; undefined when it is missing. */
export const optionalPart = <Shape extends z.ZodRawShape>(shape: Shape) => optional(z.object(shape));

/** An object whose properties are all optional; an empty one when it is missing. */
export const part = <Shape extends z.ZodRawShape>(shape: Shape) => z.preprocess(objectOrEmpty, z.object(shape));

const objectOrEmpty = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
