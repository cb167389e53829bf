import { readFileSync } from 'node:fs';
import { ConfigError } from '@metal/kube/config-error.ts';
import * as z from 'zod';
import { parseDuration } from './duration.ts';

/** One command-line option. Help, parsing, defaults and docs/operate/options.md come from the tables of these. */
export interface Option<Value = unknown, Flag extends string = string> {
  readonly flag: Flag;
  /** pairs: `key=value`, and may be given several times. */
  readonly type: 'string' | 'boolean' | 'duration' | 'integer' | 'pairs';
  readonly default: string;
  readonly help: string;
  readonly schema: z.ZodType<Value, string>;
}

/** The options of one component, by the names that its configuration has for them. */
export type OptionTable = Readonly<Record<string, Option>>;
export type FlagOf<Table extends OptionTable> = Table[keyof Table]['flag'];
export type ValuesOf<Table extends OptionTable> = { readonly [Key in keyof Table]: z.output<Table[Key]['schema']> };
/** Texts from the command line, by flag. An option without a text has its default. */
export type OptionTexts = Readonly<Record<string, string | undefined>>;

/** @throws ConfigError that names the flag, what was found and what is expected. */
export function parseOptions<Table extends OptionTable>(table: Table, texts: OptionTexts): ValuesOf<Table> {
  const values = Object.entries(table).map(([key, option]) => [key, valueOf(option, texts)]);
  // Each key has the output of its own schema.
  return Object.fromEntries(values) as ValuesOf<Table>;
}

function valueOf({ flag, schema, default: fallback }: Option, texts: OptionTexts): unknown {
  const { data, error } = schema.safeParse(texts[flag] ?? fallback);
  if (error === undefined) return data;
  throw new ConfigError(`--${flag}: ${error.issues[0]?.message ?? error.message}`, error);
}

/** To be returned by a parser: `return reject('"x" is no port; expected 0 to 65535')`. */
export type Reject = (problem: string) => never;

/** A schema of texts that `parse` understands. */
export const parsedBy = <Value>(parse: (text: string, reject: Reject) => Value): z.ZodType<Value, string> =>
  z.string().transform((text, context) =>
    parse(text, (message) => {
      context.issues.push({ code: 'custom', message, input: text });
      return z.NEVER;
    }),
  );

type OptionOf<Value> = <const Flag extends string>(flag: Flag, fallback: string, help: string) => Option<Value, Flag>;

/** Makes options of one type. */
export const optionOf =
  <Value>(type: Option['type'], parse: (text: string, reject: Reject) => Value): OptionOf<Value> =>
  (flag, fallback, help) => ({ flag, type, default: fallback, help, schema: parsedBy(parse) });

export const text = optionOf('string', (found) => found);

/** Undefined where it is empty. */
export const optionalText = optionOf('string', (found) => (found === '' ? undefined : found));

/** Items with commas between. */
export const list = optionOf('string', itemsOf);

export function itemsOf(found: string): string[] {
  return found
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Milliseconds. */
export const duration = optionOf('duration', (found, reject) => {
  const ms = parseDuration(found);
  if (ms === undefined) return reject(`"${found}" is no duration; expected Go syntax like 90s, 2m or 1h30m`);
  return ms < 0 ? reject(`"${found}" is negative; expected 0s or more`) : ms;
});

export const integer = optionOf('integer', integerOf);

function integerOf(found: string, reject: Reject): number {
  return /^\d{1,9}$/.test(found) ? Number(found) : reject(`"${found}" is no whole number of 0 or more`);
}

export const port = optionOf('integer', (found, reject) => {
  const number = integerOf(found, reject);
  return number > 65_535 ? reject(`${number} is no port; expected 0 to 65535`) : number;
});

export const boolean = optionOf('boolean', (found, reject) => {
  if (['true', 't', '1'].includes(found.toLowerCase())) return true;
  if (['false', 'f', '0'].includes(found.toLowerCase())) return false;
  return reject(`"${found}" is neither true nor false`);
});

/** Without a slash at its end; undefined where it is empty. */
export const url = optionOf('string', (found, reject) => {
  if (found === '') return undefined;
  return URL.canParse(found)
    ? found.replace(/\/+$/, '')
    : reject(`"${found}" is no URL; expected something like http://192.0.2.1:10000`);
});

const unitBytes: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Bytes. */
export const size = optionOf('string', (found, reject) => {
  const [, count = '', unit = ''] = /^(\d{1,9})(|[kMGT]|[KMGT]i)$/.exec(found) ?? [];
  const factor = unitBytes[unit];
  return count === '' || factor === undefined || Number(count) === 0
    ? reject(`"${found}" is no size; expected something like 500Mi or 20Gi`)
    : Number(count) * factor;
});

export const oneOf = <const Value extends string>(allowed: readonly Value[]): OptionOf<Value> =>
  optionOf('string', (found, reject) => memberOf(allowed, found, reject));

/** Undefined where it is empty. */
export const optionalOneOf = <const Value extends string>(allowed: readonly Value[]): OptionOf<Value | undefined> =>
  optionOf('string', (found, reject) => (found === '' ? undefined : memberOf(allowed, found, reject)));

function memberOf<Value extends string>(allowed: readonly Value[], found: string, reject: Reject): Value {
  return allowed.find((value) => value === found) ?? reject(`"${found}" is none of ${allowed.join(', ')}`);
}

/** The text of a file that an option names. @throws ConfigError when it cannot be read. */
export function readFileOf(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`--${flag}: cannot read ${path}; give a readable file`, error);
  }
}

/** An IPv6 address of a pod comes without the brackets that a URL needs. */
export const urlOf = (scheme: string, host: string, portNumber: number): string =>
  `${scheme}://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${portNumber}`;
