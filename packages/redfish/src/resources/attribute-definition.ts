/** A value of an attribute of a BIOS or manager; null: the BMC does not know or show it. */
export type AttributeValue = string | number | boolean | null;

/** An attribute as its registry (AttributeRegistry, DSP0268) defines it. */
export interface AttributeDefinition {
  readonly name: string;
  readonly type: 'String' | 'Integer' | 'Enumeration' | 'Boolean' | 'Password';
  /** Of an Enumeration. */
  readonly values: readonly { readonly name: string; readonly displayName: string | undefined }[];
  readonly lowerBound?: number | undefined;
  readonly upperBound?: number | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly readOnly: boolean;
  /** It is never shown, as a password. */
  readonly writeOnly?: boolean | undefined;
  readonly hidden: boolean;
  readonly immutable: boolean;
  /** Undefined: the registry does not tell. */
  readonly resetRequired: boolean | undefined;
}

/** A `Map` dependency of a registry: under its conditions an attribute is read-only, or writable. */
export interface RegistryDependency {
  /** The attribute that it makes read-only or writable. */
  readonly attribute: string;
  readonly readOnly: boolean;
  readonly conditions: readonly DependencyCondition[];
}

export interface DependencyCondition {
  readonly attribute: string;
  readonly operator: 'EQU' | 'NEQ' | 'GTR' | 'GEQ' | 'LSS' | 'LEQ';
  readonly value: AttributeValue;
  /** How it is combined with the conditions before it. */
  readonly term: 'AND' | 'OR';
}

export interface AttributeRegistry {
  readonly id: string;
  readonly definitions: ReadonlyMap<string, AttributeDefinition>;
  /** Only those that make an attribute read-only or writable. */
  readonly dependencies: readonly RegistryDependency[];
}
