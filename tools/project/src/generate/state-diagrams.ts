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
    .map(({ name, transitions }) => [`[${name}](${name}.md)`, Object.keys(transitions).map(code).join(', ')]);
  return `${header}\n# Phases of the controllers\n\n${table(['Controller', 'Phases'], rows)}`;
}

function page(name: string, transitions: Stateful['transitions']): string {
  const [first] = Object.keys(transitions);
  const arrows = Object.entries(transitions).flatMap(([from, to]) => to.map((phase) => `  ${from} --> ${phase}`));
  const unconnected = Object.keys(transitions).filter(
    (phase) => !arrows.some((arrow) => arrow.split(' ').includes(phase)),
  );
  const lines = [`  [*] --> ${first ?? ''}`, ...arrows, ...unconnected.map((phase) => `  ${phase}`)];
  return [header, `# Phases of the ${name} controller`, '', '```mermaid', 'stateDiagram-v2', ...lines, '```', ''].join(
    '\n',
  );
}
