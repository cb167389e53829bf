import * as z from 'zod';
import { requireAtMost } from './collections.ts';
import type {
  AttributeDefinition,
  AttributeRegistry,
  AttributeValue,
  DependencyCondition,
  RegistryDependency,
} from './attribute-definition.ts';
import { entries, flag, part, text } from '../fields.ts';

/** More than any BMC has: an iDRAC defines about ten thousand attributes. */
export const maxAttributes = 50_000;
const maxValues = 2_000;
const maxConditions = 100;

/** AttributeRegistry (DSP0268). */
export const registryBody = z.object({
  Id: text,
  RegistryEntries: part({ Attributes: entries, Dependencies: entries }),
});

const finite = z.number().optional().catch(undefined);
const length = z.number().nonnegative().optional().catch(undefined);

const attribute = z.object({
  AttributeName: z.string().min(1),
  Type: z.enum(['String', 'Integer', 'Enumeration', 'Boolean', 'Password']),
  Value: entries,
  LowerBound: finite,
  UpperBound: finite,
  MinLength: length,
  MaxLength: length,
  ReadOnly: flag,
  /** The spelling of iDRAC. */
  Readonly: flag,
  WriteOnly: flag,
  Hidden: flag,
  Immutable: flag,
  ResetRequired: flag,
});
const enumerated = z.object({ ValueName: z.string(), ValueDisplayName: text });

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const dependency = z.object({
  Dependency: z.object({
    MapFrom: z.array(z.unknown()),
    MapToAttribute: z.string(),
    MapToProperty: z.literal('ReadOnly'),
    MapToValue: z.boolean(),
  }),
});
const condition = z.object({
  MapFromAttribute: z.string(),
  MapFromProperty: z.literal('CurrentValue'),
  MapFromCondition: z.enum(['EQU', 'NEQ', 'GTR', 'GEQ', 'LSS', 'LEQ']),
  MapFromValue: scalar,
  MapTerms: z.enum(['AND', 'OR']).nullish().catch(undefined),
});

/** Undefined for a registry without attributes. Definitions of another shape are left out. */
export function registryOf(
  id: string,
  { RegistryEntries }: z.output<typeof registryBody>,
  path: string,
): AttributeRegistry | undefined {
  const { Attributes, Dependencies } = RegistryEntries;
  requireAtMost(maxAttributes, 'attributes', Attributes.length, path);
  requireAtMost(maxAttributes, 'dependencies', Dependencies.length, path);
  const definitions = Attributes.flatMap((entry) => definitionOf(entry) ?? []);
  if (definitions.length === 0) return undefined;
  return {
    id,
    definitions: new Map(definitions.map((definition) => [definition.name, definition])),
    dependencies: Dependencies.flatMap((entry) => dependencyOf(entry) ?? []),
  };
}

function definitionOf(entry: unknown): AttributeDefinition | undefined {
  const { data } = attribute.safeParse(entry);
  if (data === undefined) return undefined;
  return {
    name: data.AttributeName,
    type: data.Type,
    values: data.Value.slice(0, maxValues).flatMap((value) => {
      const { data: one } = enumerated.safeParse(value);
      return one === undefined ? [] : { name: one.ValueName, displayName: one.ValueDisplayName };
    }),
    ...(data.Type === 'Integer' ? boundsOf(data) : {}),
    ...(data.Type === 'String' ? { minLength: data.MinLength, maxLength: data.MaxLength } : {}),
    readOnly: data.ReadOnly ?? data.Readonly ?? false,
    writeOnly: data.WriteOnly,
    hidden: data.Hidden ?? false,
    immutable: data.Immutable ?? false,
    resetRequired: data.ResetRequired,
  };
}

/** Some registries write 0 to 0, or an upper bound below the lower one, where there is no bound. */
const boundsOf = ({ LowerBound: lowerBound, UpperBound: upperBound }: z.output<typeof attribute>) =>
  lowerBound !== undefined && upperBound !== undefined && upperBound <= lowerBound ? {} : { lowerBound, upperBound };

/** Undefined for one that cannot be evaluated: of another property, or with a condition of another kind. */
function dependencyOf(entry: unknown): RegistryDependency | undefined {
  const { data } = dependency.safeParse(entry);
  if (data === undefined) return undefined;
  const { MapFrom, MapToAttribute, MapToValue } = data.Dependency;
  if (MapFrom.length === 0 || MapFrom.length > maxConditions) return undefined;
  const conditions = MapFrom.map(conditionOf);
  if (!isComplete(conditions)) return undefined;
  return { attribute: MapToAttribute, readOnly: MapToValue, conditions };
}

function conditionOf(entry: unknown): DependencyCondition | undefined {
  const { data } = condition.safeParse(entry);
  return (
    data && {
      attribute: data.MapFromAttribute,
      operator: data.MapFromCondition,
      value: data.MapFromValue,
      term: data.MapTerms ?? 'AND',
    }
  );
}

const isComplete = (
  conditions: readonly (DependencyCondition | undefined)[],
): conditions is readonly DependencyCondition[] => conditions.every((each) => each !== undefined);

const longestName = 256;

/** The attributes of a resource. Those with another value than a text, a number, true, false or null are left out. */
export function attributesIn(value: unknown, path: string): Record<string, AttributeValue> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  const found = Object.entries(value);
  requireAtMost(maxAttributes, 'attributes', found.length, path);
  return Object.fromEntries(
    found.flatMap(([name, each]) => {
      const { data } = scalar.safeParse(each);
      return data === undefined || name.length > longestName || name.includes('@') ? [] : [[name, data]];
    }),
  );
}
