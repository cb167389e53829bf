import { parse } from 'yaml';
import { HostConfigError } from '../provisioner/back-end.ts';

/** The mapping in JSON or YAML of a Secret; an empty text has none. @throws HostConfigError without the text, which may be secret */
export function objectIn(what: HostConfigError['what'], text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {};
  try {
    const value: unknown = parse(text);
    if (isObject(value)) return value;
  } catch {
    // The message of the parser would quote the text.
  }
  throw new HostConfigError(what, `expected a mapping in JSON or YAML in the Secret with the ${what}`);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
