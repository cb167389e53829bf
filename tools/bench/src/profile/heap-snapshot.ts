import * as z from 'zod';

const headShape = z.object({
  snapshot: z.object({
    meta: z.object({
      node_fields: z.array(z.string()),
      // The first field has the names of its values, other fields a type name.
      node_types: z.tuple([z.array(z.string())]).rest(z.unknown()),
    }),
  }),
  nodes: z.custom<readonly number[]>(Array.isArray, 'expected a list of numbers'),
  strings: z.custom<readonly string[]>(Array.isArray, 'expected a list of strings'),
});

export interface Constructor {
  readonly name: string;
  readonly count: number;
  /** Shallow size. */
  readonly bytes: number;
}

/** Heap contents, sorted by size. @param text Contents of a .heapsnapshot file. */
export function constructorsIn(text: string): Constructor[] {
  const { snapshot, nodes, strings } = headShape.parse(JSON.parse(text));
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [typeAt, nameAt, sizeAt] = ['type', 'name', 'self_size'].map((field) => fields.indexOf(field));
  const found = new Map<string, { count: number; bytes: number }>();
  for (let start = 0; start < nodes.length; start += fields.length) {
    const at = (offset = 0) => nodes[start + offset] ?? 0;
    const name = constructorOf(types[0][at(typeAt)] ?? '', strings[at(nameAt)] ?? '');
    const sum = found.get(name) ?? { count: 0, bytes: 0 };
    found.set(name, sum);
    sum.count += 1;
    sum.bytes += at(sizeAt);
  }
  return [...found].map(([name, sum]) => ({ name, ...sum })).toSorted((one, other) => other.bytes - one.bytes);
}

/** An object without a constructor is named by its type, as in browsers. */
function constructorOf(type: string, name: string): string {
  if (type === 'object' || type === 'native') return name.slice(0, 60);
  if (type.includes('string')) return '(string)';
  return type === 'code' ? '(compiled code)' : `(${type})`;
}
