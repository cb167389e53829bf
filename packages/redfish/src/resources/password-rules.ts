import { randomInt } from 'node:crypto';
import { Password } from '../http/password.ts';

/** The bounds of an account service for the length of passwords; undefined or 0 when it reports none. */
export interface PasswordBounds {
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
}

/** A whole number, at least 0 and below the limit, uniformly distributed. */
export type Pick = (below: number) => number;

export interface PasswordOptions {
  readonly bounds: PasswordBounds;
  /** Special characters that the vendor accepts; see the traits. */
  readonly specials: string;
  readonly pick?: Pick;
}

const lower = 'abcdefghijklmnopqrstuvwxyz';
const upper = lower.toUpperCase();
const digits = '0123456789';

const defaultMinLength = 12;
const defaultMaxLength = 32;

/** A random password with at least one letter of each case, one digit and one special character. */
export function generatePassword({ bounds, specials, pick = randomInt }: PasswordOptions): Password {
  const classes = [lower, upper, digits, specials];
  const all = classes.join('');
  const length = passwordLength(bounds);
  const characters = Array.from({ length }, (_, index) => one(classes[index] ?? all, pick));
  return new Password(shuffled(characters, pick).join(''));
}

/**
 * The maximum of the service, between 12 and 32 characters: firmware that reports 0 or 255 stores fewer characters than
 * it reports. Bounds of the service outside of this range take precedence.
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
