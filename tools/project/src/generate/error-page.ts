import type { ErrorCatalogue } from '@metal/kube/errors.ts';
import type { GeneratedFile } from './generated-folder.ts';
import { code, header, table } from './markdown.ts';

/** The errors of one peer or program. */
export interface ErrorChapter {
  readonly title: string;
  readonly catalogue: ErrorCatalogue;
}

const introduction = `
# Error codes

An error that stops a controller's turn becomes the reason of the condition \`Ready\`; its code is in the log line as well.
*later*: tried again by itself, with growing pauses. *blocked*: tried again when something changes, and besides after a
minute, then every five at most. *bug*: should not happen; tried again with
growing pauses, and logged as a warning.
`;

const columns = ['Code', 'Tried again', 'What it means', 'What to do'];

export function errorPage(chapters: readonly ErrorChapter[]): GeneratedFile {
  return { name: 'errors.md', text: [header, introduction, ...chapters.map(chapter)].join('') };
}

function chapter({ title, catalogue }: ErrorChapter): string {
  const rows = Object.entries(catalogue)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, { retry, meaning, remedy }]) => [code(name), retry, meaning, remedy]);
  return `\n## ${title}\n\n${table(columns, rows)}`;
}
