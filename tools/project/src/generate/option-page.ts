import type { Option } from '@metal/api/common/options.ts';
import { compatibleOptions, helpOf, ownOptions } from '@metal/metal-operator/option-list.ts';
import type { GeneratedFile } from './generated-folder.ts';
import { code, header, table } from './markdown.ts';

const introduction = `
# Options

The options of \`metal-operator\`, as in its \`--help\`. They have one dash or two; a switch is turned off by \`--name=false\`. Durations are
written as in Go: \`90s\`, \`2m\`, \`1h30m\`. Options without effect are accepted; the log warns of each that is set.
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

function rowOf(option: Option): string[] {
  const { flag, type, default: fallback } = option;
  return [code(`--${flag}`), type, fallback === '' ? '' : code(fallback), helpOf(option)];
}
