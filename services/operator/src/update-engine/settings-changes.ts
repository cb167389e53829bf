import type { AttributeChange, AttributeValue, Problem } from '@metal/redfish/resources/attributes.ts';
import type { Explanation } from '../controllers/ready-condition.ts';
import type { Change } from './types.ts';

const longestValue = 200;

/** Changes as a plan shows them. */
export const plannedChanges = (
  changes: readonly AttributeChange[],
  secretNames: ReadonlySet<string> = new Set(),
): Change[] =>
  changes.map(({ name, from, to }) => {
    if (secretNames.has(name)) return { name, to: '(secret)' };
    return { name, ...(from === undefined ? {} : { from: textOf(from) }), to: textOf(to) };
  });

const textOf = (value: AttributeValue): string => String(value).slice(0, longestValue);

const longestMessage = 160;

/** A message that has the text of a BMC is as long as a condition may have it. */
export const shortened = (message: string, longest = longestMessage): string =>
  message.length > longest ? `${message.slice(0, longest - 1)}…` : message;

const mostNamed = 3;

/** The first problems with their names, as many as the message has space for, and the number of the others. */
export function validationFailure(problems: readonly Problem[]): Explanation | undefined {
  if (problems.length === 0) return undefined;
  const texts = problems.map(({ name, message }) => `${name} ${message}`);
  const endOf = (named: number): string => (texts.length > named ? `; and ${texts.length - named} more` : '');
  const named = (count: number): string => texts.slice(0, count).join('; ');
  let count = Math.min(mostNamed, texts.length);
  while (count > 1 && named(count).length + endOf(count).length > longestMessage) count -= 1;
  const end = endOf(count);
  return { reason: 'SettingsValidationFailed', message: shortened(named(count), longestMessage - end.length) + end };
}

/** Changes that somebody else left waiting. */
export const changesOfOthers = ([first = '', ...more]: readonly string[]): string =>
  more.length === 0 ? `1 change of others (${first}) waits` : `${more.length + 1} changes of others (${first} …) wait`;
