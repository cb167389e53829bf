import type { GeneratedFile } from './generated-folder.ts';
import { code, header, table } from './markdown.ts';

export interface Stateful {
  readonly name: string;
  /** Allowed transitions by phase. */
  readonly transitions: Readonly<Record<string, readonly string[]>>;
}

/** One page per controller with a diagram of its phases, and a list of the pages. */
export function stateDiagrams(controllers: readonly Stateful[]): GeneratedFile[] {
  return [
    { name: 'README.md', text: list(controllers) },
    ...controllers.map(({ name, transitions }) => ({ name: `${name}.md`, text: page(name, transitions) })),
  ];
}

function list(controllers: readonly Stateful[]): string {
  const rows = controllers
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, transitions }) => [
      `[${name}](${name}.md)`,
      Object.keys(transitions)
        .map((phase) => code(titleOf(phase)))
        .join(', '),
    ]);
  return `${header}\n# Phases of the controllers\n\n${table(['Controller', 'Phases'], rows)}`;
}

function page(name: string, transitions: Stateful['transitions']): string {
  const [first] = Object.keys(transitions);
  const arrows = Object.entries(transitions).flatMap(([from, to]) =>
    to.map((phase) => `  ${idOf(from)} --> ${idOf(phase)}`),
  );
  const unconnected = Object.keys(transitions).filter(
    (phase) => !arrows.some((arrow) => arrow.split(' ').includes(idOf(phase))),
  );
  const named = Object.keys(transitions).filter((phase) => idOf(phase) !== titleOf(phase));
  const lines = [
    ...named.map((phase) => `  state "${titleOf(phase)}" as ${idOf(phase)}`),
    `  [*] --> ${idOf(first ?? '')}`,
    ...arrows,
    ...unconnected.map((phase) => `  ${idOf(phase)}`),
  ];
  return [header, `# Phases of the ${name} controller`, '', '```mermaid', 'stateDiagram-v2', ...lines, '```', ''].join(
    '\n',
  );
}

/** Names in a diagram have no spaces, and are not empty. */
const idOf = (phase: string): string => titleOf(phase).replaceAll(' ', '_');

const titleOf = (phase: string): string => (phase === '' ? 'new' : phase);
