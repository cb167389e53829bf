/**
 * The text at a path like `spec.BMCRef.name` or `metadata.labels[topology.kubernetes.io/region]`; undefined if there is no text.
 * Only the last part may be in brackets: the key of a map of texts.
 */
export function fieldAt(object: unknown, path: string): string | undefined {
  const [, fields = '', key] = /^([^[]*)(?:\[(.*)\])?$/.exec(path) ?? [];
  const names = fields.split('.').filter((name) => name !== '');
  const found = [...names, ...(key === undefined ? [] : [key])].reduce<unknown>(memberOf, object);
  return names.length > 0 && typeof found === 'string' ? found : undefined;
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
