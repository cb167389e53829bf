/*
 * Version texts of BIOS and firmware, as the vendors write them: "1.9", "01.01.13", "U54 v1.48 (05/20/2023)", "iLO 6 v1.55",
 * "1.55 Sep 20 2023", "ESE120T", "R06_F31", "3.4a", "2.14.0-rc1", "0x1C".
 */

/** Versions of CPLDs. */
const hexNumber = /^0x[0-9a-f]{1,12}$/i;

/** Spelled alike up to letter case and spaces. */
export const versionsMatch = (a: string, b: string): boolean => withoutSpaces(a) === withoutSpaces(b);

const withoutSpaces = (version: string): string => version.replaceAll(/\s+/g, '').toLowerCase();

/**
 * Negative when `a` is older than `b`, positive when it is newer, 0 when they are of the same age. Undefined when the texts do not
 * tell: they belong to different families ("U54 v1.48" and "U46 v2.10"), or differ in words.
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (versionsMatch(a, b)) return 0;
  if (hexNumber.test(a) && hexNumber.test(b)) return Number(a) - Number(b);
  const [left, right] = [parsed(a), parsed(b)];
  if (left.family !== undefined && right.family !== undefined && left.family !== right.family) return undefined;
  const length = Math.min(left.parts.length, right.parts.length);
  for (let index = 0; index < length; index += 1) {
    const isLast = index === left.parts.length - 1 && index === right.parts.length - 1;
    const order = compareParts(left.parts[index] ?? '', right.parts[index] ?? '', isLast);
    if (order !== 0) return order;
  }
  if (length === 0) return undefined;
  const longer = left.parts.length > right.parts.length ? left : right;
  const order = orderOfRest(longer.parts.slice(length));
  return order === undefined || longer === left ? order : 0 - order;
}

interface Parsed {
  /** What stands before `v` and the number: the name of a BIOS or of a product. */
  readonly family: string | undefined;
  /** Numbers without leading zeros, and words in lower case. */
  readonly parts: readonly string[];
}

function parsed(version: string): Parsed {
  const text = version.toLowerCase().replace(trailingDate, '').trim();
  const [, family, number = text] = /^(?:(.*)\s)?v(\d.*)$/.exec(text) ?? [];
  const parts = number.match(/\d+|[a-z]+/g) ?? [];
  return { family: family?.replaceAll(/\s+/g, ' '), parts: parts.map((part) => part.replace(/^0+(?=\d)/, '')) };
}

/** The date of a release, which HPE appends: "(05/20/2023)", "Sep 20 2023". */
const trailingDate = /\s+(\(\d+\/\d+\/\d+\)|[a-z]{3} \d{1,2} \d{4})\s*$/;

const isNumber = (part: string): boolean => /^\d/.test(part);

/** Undefined when the parts cannot be ordered. Letters are ordered only at the end, as in "3.4a" or "ESE120T". */
function compareParts(a: string, b: string, isLast: boolean): number | undefined {
  if (a === b) return 0;
  if (isNumber(a) && isNumber(b)) return a.length - b.length || (a < b ? -1 : 1);
  if (isLast && a.length === 1 && b.length === 1 && !isNumber(a) && !isNumber(b)) return a < b ? -1 : 1;
  return undefined;
}

const beforeRelease: readonly string[] = ['alpha', 'beta', 'rc', 'pre', 'dev'];

/** The order of a version with these further parts, in relation to the one without them. */
function orderOfRest(rest: readonly string[]): number | undefined {
  if (rest.every((part) => part === '0')) return 0;
  const [first = ''] = rest;
  if (beforeRelease.includes(first)) return -1;
  return isNumber(first) || first.length === 1 ? 1 : undefined;
}
