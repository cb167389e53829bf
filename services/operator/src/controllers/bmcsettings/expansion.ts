const reference = /\$(?:\$|\(([^)]*)\))/g;

/**
 * Replaces `$(NAME)` like Kubernetes does in the environment of containers: unknown names stay, `$$` is a dollar sign, and inserted
 * text is not read again.
 */
export const expand = (template: string, values: ReadonlyMap<string, string>): string =>
  template.replaceAll(reference, (match: string, name: string | undefined) =>
    name === undefined ? '$' : (values.get(name) ?? match),
  );

/** String literals of JSON, and references outside of them. */
const literalOrReference = /"(?:[^"\\]|\\.)*"|\$(?:\$|\([^)]*\))/g;

/** Like `expand`, for JSON: inside a string literal the text is escaped, elsewhere it is inserted as it is. */
export function expandJson(template: string, values: ReadonlyMap<string, string>): string {
  const escaped = new Map([...values].map(([name, text]) => [name, JSON.stringify(text).slice(1, -1)]));
  return template.replaceAll(literalOrReference, (part) => expand(part, part.startsWith('"') ? escaped : values));
}

/** Names that the template refers to. */
export const referencedNames = (template: string): string[] =>
  [...template.matchAll(reference)].flatMap(([, name]) => name ?? []);
