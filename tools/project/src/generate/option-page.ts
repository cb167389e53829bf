import { compatibleOptions, inertOptions, type Option, ownOptions } from '@metal/operator/options.ts';
import type { GeneratedFile } from './generated-folder.ts';
import { code, header, table } from './markdown.ts';

const introduction = `
# Options

What \`metal-operator --help\` says. Options have one dash or two; a switch is turned off by \`--name=false\`. Durations are Go's:
\`90s\`, \`2m\`, \`1h30m\`. An option that has no effect is accepted, and the log says so at the start.
`;

const columns = ['Option', 'Type', 'Default', 'What it does'];

/** One page with every option of the process. */
export function optionPage(): GeneratedFile {
  const text = [header, introduction, chapter('Of v0.7.0', compatibleOptions), chapter('Of this operator', ownOptions)];
  return { name: 'options.md', text: text.join('') };
}

function chapter(title: string, options: readonly Option[]): string {
  return `\n## ${title}\n\n${table(columns, options.map(rowOf))}`;
}

function rowOf({ name, type, default: fallback, help }: Option): string[] {
  const note = inertOptions.has(name) ? ' (no effect in this version)' : '';
  return [code(`--${name}`), type, fallback === '' ? '' : code(fallback), `${bracketsKept(help)}${note}`];
}

/** A word in angle brackets would be read as HTML. */
const bracketsKept = (text: string): string => text.replaceAll('<', '\\<');
