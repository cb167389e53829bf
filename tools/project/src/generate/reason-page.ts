import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';
import type { GeneratedFile } from './generated-folder.ts';
import { code, header, table } from './markdown.ts';

/** A controller, or a service that writes conditions of a kind. */
export interface ReasonSource {
  readonly name: string;
  readonly kind: { readonly kind: string };
  readonly reasons: ReasonCatalogue;
}

const introduction = `
# What does this reason mean?

Every object that waits says what for: the condition \`Ready\` has a reason, and a message with the names and times of this
very case. The same word is in the column Reason of \`kubectl get\`, in the event and in the log line.

\`\`\`sh
kubectl get servers                                     # who waits, and why
kubectl describe server NAME                            # the message, and the events in order
kubectl get events --field-selector reason=NoServerMatches
\`\`\`

A reason that is not listed for its kind is an error code: see [errors](../errors.md).
`;

const aboutRejections = `
## Words in the message of NoServerMatches

The message counts why each server was refused, as in \`looked at 8 servers: 5 ClaimedByAnother, 3 LabelsDoNotMatch\`.

`;

/** One page with every reason that a controller gives, by kind; the alert rules link to its entries. */
export function reasonPage(reasonSources: readonly ReasonSource[], rejections: ReasonCatalogue): GeneratedFile {
  const kinds = [...new Set(reasonSources.map(({ kind }) => kind.kind))];
  const chapters = kinds.map((kind) =>
    chapter(kind, Object.assign({}, ...reasonsOf(kind, reasonSources)) as ReasonCatalogue),
  );
  return {
    name: 'reasons.md',
    text: [header, introduction, ...chapters, aboutRejections, tableOf(rejections)].join(''),
  };
}

const reasonsOf = (kind: string, reasonSources: readonly ReasonSource[]): ReasonCatalogue[] =>
  reasonSources.filter((one) => one.kind.kind === kind).map(({ reasons }) => reasons);

function chapter(kind: string, reasons: ReasonCatalogue): string {
  return Object.keys(reasons).length === 0 ? '' : `\n## ${kind}\n\n${tableOf(reasons)}`;
}

function tableOf(reasons: ReasonCatalogue): string {
  const rows = Object.entries(reasons).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const cells = rows.map(([reason, { meaning, remedy }]) => [code(reason), meaning, remedy]);
  return table(['Reason', 'What it means', 'What to do'], cells);
}
