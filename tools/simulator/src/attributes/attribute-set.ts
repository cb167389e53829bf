import type { Resource } from '../replies.ts';

export type AttributeValue = string | number | boolean | null;
export type AttributeValues = Readonly<Record<string, AttributeValue>>;

/** An attribute with its factory value. A password is reported as null. */
export interface Attribute {
  readonly name: string;
  readonly type: 'String' | 'Integer' | 'Enumeration' | 'Boolean' | 'Password';
  readonly value: AttributeValue;
  /** Of an enumeration: names, and how they are displayed. */
  readonly values?: readonly (readonly [name: string, displayName: string])[];
  readonly lowest?: number;
  readonly highest?: number;
  readonly shortest?: number;
  readonly longest?: number;
  readonly readOnly?: boolean;
  readonly hidden?: boolean;
  readonly immutable?: boolean;
  /** false: it is applied at once; undefined: the registry does not tell, and it is applied at the next start. */
  readonly resetRequired?: boolean | undefined;
  /** It can be changed only while another attribute has this value. */
  readonly writableIf?: { readonly attribute: string; readonly value: AttributeValue };
}

/** The attributes of a BIOS or of a manager, and the identifier of their registry; undefined: the BMC has none. */
export interface AttributeSet {
  readonly registryId: string | undefined;
  readonly attributes: readonly Attribute[];
}

type More = Partial<Attribute>;

/** Values are `name` or `name=display name`; the first is the factory value. */
export function choice(name: string, values: string, more: More = {}): Attribute {
  const pairs = values.split('|').map((value): [string, string] => {
    const [id = '', displayName = id] = value.split('=');
    return [id, displayName];
  });
  return { name, type: 'Enumeration', value: pairs[0]?.[0] ?? '', values: pairs, resetRequired: true, ...more };
}

export const onOff = (name: string, more: More = {}): Attribute => choice(name, 'Enabled|Disabled', more);
export const offOn = (name: string, more: More = {}): Attribute => choice(name, 'Disabled|Enabled', more);

export const flag = (name: string, value: boolean, more: More = {}): Attribute => ({
  name,
  type: 'Boolean',
  value,
  resetRequired: true,
  ...more,
});

export const number = (name: string, value: number, lowest: number, highest: number, more: More = {}): Attribute => ({
  name,
  type: 'Integer',
  value,
  lowest,
  highest,
  resetRequired: true,
  ...more,
});

export const text = (name: string, value: string, longest: number, more: More = {}): Attribute => ({
  name,
  type: 'String',
  value,
  shortest: 0,
  longest,
  resetRequired: true,
  ...more,
});

export const password = (name: string): Attribute => ({ name, type: 'Password', value: null, resetRequired: true });

const factoryValues = new WeakMap<AttributeSet, AttributeValues>();

/** One frozen object for all machines of a profile. */
export function factoryOf(set: AttributeSet): AttributeValues {
  const known = factoryValues.get(set);
  if (known !== undefined) return known;
  const values = Object.freeze(
    Object.fromEntries(
      set.attributes
        .filter(({ hidden }) => hidden !== true)
        .map(({ name, value }): [string, AttributeValue] => [name, value]),
    ),
  );
  factoryValues.set(set, values);
  return values;
}

/** The registry of a set (AttributeRegistry, DSP0268). */
export function registryResource({ registryId = '', attributes }: AttributeSet): Resource {
  return {
    '@odata.type': '#AttributeRegistry.v1_3_8.AttributeRegistry',
    Id: registryId,
    Name: 'Attribute Registry',
    Language: 'en',
    OwningEntity: 'Contoso',
    RegistryVersion: '1.0.0',
    RegistryEntries: {
      Attributes: attributes.map(definitionOf),
      Dependencies: attributes.flatMap((attribute) => dependencyOf(attribute) ?? []),
      Menus: [],
    },
  };
}

function definitionOf(attribute: Attribute): Resource {
  const { name, type, values, value, lowest, highest, shortest, longest } = attribute;
  return {
    AttributeName: name,
    DisplayName: name,
    Type: type,
    DefaultValue: value,
    ...(values === undefined
      ? {}
      : { Value: values.map(([id, displayName]) => ({ ValueName: id, ValueDisplayName: displayName })) }),
    ...(lowest === undefined ? {} : { LowerBound: lowest, UpperBound: highest, ScalarIncrement: 0 }),
    ...(longest === undefined ? {} : { MinLength: shortest, MaxLength: longest }),
    ReadOnly: attribute.readOnly ?? attribute.writableIf !== undefined,
    Hidden: attribute.hidden ?? false,
    Immutable: attribute.immutable ?? false,
    ...(attribute.resetRequired === undefined ? {} : { ResetRequired: attribute.resetRequired }),
  };
}

function dependencyOf({ name, writableIf }: Attribute): Resource | undefined {
  if (writableIf === undefined) return undefined;
  return {
    DependencyFor: name,
    Type: 'Map',
    Dependency: {
      MapFrom: [
        {
          MapFromAttribute: writableIf.attribute,
          MapFromProperty: 'CurrentValue',
          MapFromCondition: 'EQU',
          MapFromValue: writableIf.value,
        },
      ],
      MapToAttribute: name,
      MapToProperty: 'ReadOnly',
      MapToValue: false,
    },
  };
}
