import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import { objectSchema } from '@metal/kube/kinds/crd.ts';
import { type Field, fieldsOf } from './fields.ts';
import type { GeneratedFile } from './generated-folder.ts';
import { code, header, table } from './markdown.ts';

/** Kinds below a heading of their own; the first group needs none. */
export interface KindGroup {
  readonly title?: string;
  readonly text?: string;
  readonly kinds: readonly DefinedKind[];
}

/** One reference page per kind, and a list of them. */
export function kindPages(groups: readonly KindGroup[]): GeneratedFile[] {
  return [
    { name: 'README.md', text: [`${header}\n# Kinds\n`, ...groups.map(overview)].join('\n') },
    ...groups.flatMap(({ kinds }) => kinds).map((kind) => ({ name: `${kind.singular}.md`, text: page(kind) })),
  ];
}

function overview({ title, text, kinds }: KindGroup): string {
  const rows = kinds.map(({ kind, singular, scope, shortNames, description }) => [
    `[${kind}](${singular}.md)`,
    shortNames.map(code).join(', '),
    scope,
    description,
  ]);
  const heading = [title === undefined ? [] : [`## ${title}\n`], text === undefined ? [] : [`${text}\n`]].flat();
  return [...heading, table(['Kind', 'Short', 'Scope', 'Description'], rows)].join('\n');
}

function page(kind: DefinedKind): string {
  const { apiVersion, kind: name, plural, shortNames, scope, description, deprecated } = kind;
  const names = [plural, ...shortNames].map(code).join(', ');
  return [
    `${header}\n# ${name}\n\n${description}\n`,
    ...(deprecated === undefined ? [] : [`> **Deprecated.** ${deprecated}\n`]),
    `${code(apiVersion)}, ${scope === 'Cluster' ? 'cluster-scoped' : 'namespaced'}. For \`kubectl\`: ${names}.\n`,
    ...rulesOfWhole(kind),
    `## Fields\n\nBold: required if its parent is set.\n\n${table(['Field', 'Type', 'Default', 'Constraints', 'Description'], fieldsOf(objectSchema(kind)).map(fieldRow))}`,
    ...columns(kind),
  ].join('\n');
}

const rulesOfWhole = ({ rules }: DefinedKind): string[] =>
  rules.length === 0 ? [] : [`Rules: ${rules.map(({ message }) => message).join('; ')}.\n`];

const fieldRow = ({ path, required, type, byDefault, constraints, description }: Field): string[] => [
  required ? `**${code(path)}**` : code(path),
  type,
  byDefault === undefined ? '' : code(JSON.stringify(byDefault)),
  constraints.join('; '),
  description,
];

function columns({ columns }: DefinedKind): string[] {
  if (columns.length === 0) return [];
  const rows = columns.map(({ name, path, priority = 0 }) => [name, code(path), priority > 0 ? '`-o wide`' : 'always']);
  return [`## Columns\n\n${table(['Column', 'Field', 'Shown'], rows)}`];
}
