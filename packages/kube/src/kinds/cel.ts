import type * as z from 'zod';

/** One entry of x-kubernetes-validations: the API server evaluates `rule` and returns `message` if it is false. */
export interface ValidationRule {
  readonly rule: string;
  readonly message: string;
}

const validationsKey = 'x-kubernetes-validations';

/** Adds a CEL rule. A rule with `oldSelf` is only evaluated when the value existed before and still does. */
export function rule<S extends z.ZodType>(schema: S, cel: string, message: string): S {
  const present = schema.meta()?.[validationsKey];
  const rules: unknown[] = Array.isArray(present) ? present : [];
  return schema.meta({ ...schema.meta(), [validationsKey]: [...rules, { rule: cel, message }] });
}

/** The value may be added and removed, but not changed. */
export const immutable = <S extends z.ZodType>(schema: S, name: string): S =>
  rule(schema, 'self == oldSelf', `${name} is immutable`);

/** Members that cannot be removed once they are set. */
export function keptOnceSet<S extends z.ZodType>(schema: S, ...names: string[]): S {
  return names.reduce(
    (kept, name) => rule(kept, `!has(oldSelf.${name}) || has(self.${name})`, `${name} is required once set`),
    schema,
  );
}

/** Exactly one of the members is set. */
export function exactlyOneOf<S extends z.ZodType>(schema: S, names: readonly string[], message: string): S {
  return rule(
    schema,
    `[${names.map((name) => `has(self.${name})`).join(', ')}].filter(present, present).size() == 1`,
    message,
  );
}

/** Adds schema keywords of Kubernetes: formats, list and map types. */
export const hinted = <S extends z.ZodType>(schema: S, hints: Record<string, unknown>): S =>
  schema.meta({ ...schema.meta(), ...hints });

/** A default that the API server sets: always present in stored objects, never required. */
export const apiDefault = <S extends z.ZodType>(schema: S, value: z.input<S>): S => hinted(schema, { default: value });
