import { hinted, rule } from '@metal/kube/cel.ts';
import * as z from 'zod';

/** Refers to an object by name, where kind and namespace follow from the field. */
export const localRef = hinted(z.object({ name: z.string().default('').describe('Name of the object.') }), {
  'x-kubernetes-map-type': 'atomic',
});

/** Refers to a namespaced object. */
export const objectRef = z.object({
  namespace: z.string().describe('Namespace of the object.'),
  name: z.string().describe('Name of the object.'),
});

const fixed = <S extends z.ZodType>(schema: S, field: string): S =>
  rule(schema, 'self == oldSelf', `${field} is immutable`);

/** Refers to a namespaced object; may be set and cleared, but not turned to another object. */
export const fixedObjectRef = z.object({
  namespace: fixed(z.string().max(63), 'namespace').describe('Namespace of the object.'),
  name: fixed(z.string().max(253), 'name').describe('Name of the object.'),
});

/** core/v1 SecretReference. */
export const secretRef = hinted(
  z.object({
    name: z.string().optional().describe('Name of the Secret.'),
    namespace: z.string().optional().describe('Namespace of the Secret.'),
  }),
  { 'x-kubernetes-map-type': 'atomic' },
);
