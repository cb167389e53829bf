import { randomInt } from 'node:crypto';
import { Password } from '../http/password.ts';

/** What an account service says about the length of passwords; absent or 0 where it says nothing. */
export interface PasswordBounds {
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
}

/** A whole number, at least 0 and below the limit, each as likely as the others. */
export type Pick = (below: number) => number;

export interface PasswordOptions {
  readonly bounds: PasswordBounds;
  /** Special characters that the vendor takes; see the traits. */
  readonly specials: string;
  readonly pick?: Pick;
}

const lower = 'abcdefghijklmnopqrstuvwxyz';
const upper = lower.toUpperCase();
const digits = '0123456789';

const defaultMinLength = 12;
const defaultMaxLength = 32;

/** A password with a letter of each case, a digit and a special character, and everything else by chance. */
export function generatePassword({ bounds, specials, pick = randomInt }: PasswordOptions): Password {
  const classes = [lower, upper, digits, specials];
  const all = classes.join('');
  const length = passwordLength(bounds);
  const characters = Array.from({ length }, (_, index) => one(classes[index] ?? all, pick));
  return new Password(shuffled(characters, pick).join(''));
}

/**
 * The longest the service takes, between 12 and 32 characters: firmware that reports 0 or 255 stores less than it
 * says. Only bounds that leave nothing in between win over these.
 */
export function passwordLength({ minLength = 0, maxLength = 0 }: PasswordBounds): number {
  const upperBound = maxLength > 0 ? maxLength : defaultMaxLength;
  const lowerBound = Math.min(Math.max(minLength, defaultMinLength), upperBound);
  return Math.max(Math.min(upperBound, defaultMaxLength), lowerBound);
}

const one = (set: string, pick: Pick): string => set.charAt(pick(set.length));

/** Fisher–Yates. */
function shuffled(characters: readonly string[], pick: Pick): string[] {
  const order = [...characters];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = pick(last + 1);
    [order[last], order[other]] = [order[other] ?? '', order[last] ?? ''];
  }
  return order;
}
