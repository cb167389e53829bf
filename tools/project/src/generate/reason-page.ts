import type { ReasonCatalogue, ReasonEntry } from '@metal/kube/controller/decide.ts';
import type { GeneratedFile } from './generated-folder.ts';
import { anchorElement, code, header, table } from './markdown.ts';

/** A controller, or a service that writes conditions of a kind. */
export interface ReasonSource {
  readonly name: string;
  readonly kind: { readonly kind: string };
  readonly reasons: ReasonCatalogue;
}

const introduction = `
# What does this reason mean?

Every object that waits says what for: the condition \`Ready\` has a reason, and a message with the names and times of this
very case. The same word is in the column Reason of \`kubectl get\`, in the log line, and in an event: at once for a failure, after
a minute for a wait that needs a person, after 15 minutes for any other. The first two are Warnings. The first discovery leaves no
event on a Server, unless it fails: its conditions have the times.

\`\`\`sh
kubectl get servers                                     # who waits, and why
kubectl describe server NAME                            # the message, and the events in order
kubectl get events --field-selector type=Warning        # what failed
kubectl get events --field-selector reason=NoServerMatches
kubectl get server NAME -o jsonpath='{.status.history}' # the last ten changes of state, reason and power
\`\`\`

A reason that is not listed for its kind is an error code: see [errors](../errors.md). Programs find this catalogue in
\`packages/api/src/reasons\`.

## What needs a person

These reasons stay until somebody acts. *(failed)*: the operator tried it, and does not repeat it or fails each time. In a command,
\`{name}\`, \`{namespace}\` and \`{spec.…}\` are fields of the object with the reason; words in capitals are yours to fill in.
`;

const aboutTheRest = `
## Other reasons

These pass by themselves, or somebody wants them to last, as \`Parked\`. *waiting*: something else has to happen first; the last
column names who acts next.
`;

const aboutRejections = `
## Words in the message of NoServerMatches

The message counts why each server was refused, as in \`looked at 8 servers: 5 ClaimedByAnother, 3 LabelsDoNotMatch\`.

`;

/** One page with every reason: by kind, those that need a person first. */
export function reasonPage(reasonSources: readonly ReasonSource[], rejections: ReasonCatalogue): GeneratedFile {
  const kinds = [...new Set(reasonSources.map(({ kind }) => kind.kind))].map(
    (kind) => [kind, sortedEntries(...reasonsOf(kind, reasonSources))] as const,
  );
  return {
    name: 'reasons.md',
    text: [
      header,
      introduction,
      ...kinds.map(([kind, reasons]) => chapter(kind, reasons.filter(isUrgent), urgentTable)),
      aboutTheRest,
      ...kinds.map(([kind, reasons]) =>
        chapter(
          kind,
          reasons.filter((one) => !isUrgent(one)),
          quietTable,
        ),
      ),
      aboutRejections,
      quietTable(sortedEntries(rejections), 'rejection'),
    ].join(''),
  };
}

type NamedEntry = readonly [reason: string, entry: ReasonEntry];

const reasonsOf = (kind: string, reasonSources: readonly ReasonSource[]): ReasonCatalogue[] =>
  reasonSources.filter((one) => one.kind.kind === kind).map(({ reasons }) => reasons);

const sortedEntries = (...catalogues: ReasonCatalogue[]): NamedEntry[] =>
  Object.entries<ReasonEntry>(Object.assign({}, ...catalogues)).toSorted(([one], [other]) => (one < other ? -1 : 1));

const isUrgent = ([, { weight }]: NamedEntry): boolean => weight === 'needsPerson' || weight === 'failed';

const chapter = (
  kind: string,
  reasons: NamedEntry[],
  tableOf: (reasons: NamedEntry[], kind: string) => string,
): string => (reasons.length === 0 ? '' : `\n### ${kind}\n\n${tableOf(reasons, kind)}`);

/** A reason with an anchor, such as `server-parked`, for links from other pages. */
const anchored = (kind: string, reason: string): string =>
  `${anchorElement(`${kind}-${reason}`.toLowerCase())}${code(reason)}`;

const urgentTable = (reasons: NamedEntry[], kind: string): string =>
  table(
    ['Reason', 'What it means', 'What to do', 'Command', 'Who'],
    reasons.map(([reason, { meaning, remedy, weight, actor, command = '' }]) => [
      `${anchored(kind, reason)}${weight === 'failed' ? ' (failed)' : ''}`,
      meaning,
      remedy,
      code(command),
      actor,
    ]),
  );

const quietTable = (reasons: NamedEntry[], kind: string): string =>
  table(
    ['Reason', 'What it means', 'What to do', 'Weight', 'Who acts next'],
    reasons.map(([reason, { meaning, remedy, weight, actor, command, pointsTo }]) => [
      anchored(kind, reason),
      meaning,
      [remedy, ...(command === undefined ? [] : [code(command)])].join(' '),
      weight,
      weight === 'ok' ? '' : [actor, ...(pointsTo === undefined ? [] : [`see the ${pointsTo}`])].join('; '),
    ]),
  );
