import { readFileSync } from 'node:fs';
import { ConfigError } from '@metal/kube/config-error.ts';
import { parse, type ParseOptions, type SchemaOptions, YAMLParseError } from 'yaml';
import * as z from 'zod';
import { nearestOf } from './nearest.ts';

export interface FileSource {
  /** The option that names the file, without dashes. */
  readonly flag: string;
  readonly path: string;
}

/** Gets a text about what a file has and nothing reads. */
export type Warn = (text: string) => void;

/** The content of a YAML or JSON file; `<<: *anchor` merges a mapping. @throws ConfigError with the option, the path and the place of the error; it quotes no text */
export function readYamlFile(
  { flag, path }: FileSource,
  options: ParseOptions & Pick<SchemaOptions, 'schema'> = {},
): unknown {
  try {
    return parse(readFileSync(path, 'utf8'), { ...options, merge: true }) ?? {};
  } catch (error) {
    throw new ConfigError(`--${flag}: ${path} ${describeUnreadable(error)}`, error);
  }
}

/** The messages of the parser quote the file, which may contain passwords. */
function describeUnreadable(error: unknown): string {
  if (error instanceof YAMLParseError) {
    const [start] = error.linePos ?? [];
    return `is no YAML at line ${start?.line ?? '?'}, column ${start?.col ?? '?'} (${error.code})`;
  }
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  return code === '' ? 'is no YAML' : `cannot be read${code}; give a readable file, or leave the option out`;
}

/**
 * Unknown keys are one warning, since v0.7.0 ignored them.
 * @throws ConfigError with the option, the path, and the key, the expectation and the finding of each error
 */
export function validateFile<Schema extends z.ZodType>(
  { flag, path }: FileSource,
  { schema, content, warn }: { readonly schema: Schema; readonly content: unknown; readonly warn: Warn },
): z.output<Schema> {
  const { data, error } = schema.safeParse(content);
  const unknown = joined(describeUnknownKeys(schema, content));
  if (error !== undefined) {
    const texts = [unknown, joined(describeIssues(error, content))].filter((text) => text !== '');
    throw new ConfigError(`--${flag}: ${path}: ${texts.join('; ')}`, error);
  }
  if (unknown !== '') warn(`--${flag}: ${path}: ${unknown}`);
  return data;
}

const maxTexts = 3;

const joined = (texts: readonly string[]): string =>
  [...texts.slice(0, maxTexts), ...(texts.length > maxTexts ? [`and ${texts.length - maxTexts} more`] : [])].join('; ');

/** `hosts[0].port: expected a number, found a text`. Only a text that is none of a list of values, or has the wrong format, is quoted. */
export function describeIssues({ issues }: z.ZodError, content: unknown): string[] {
  return issues.map(
    (issue) => `${keyText(issue.path)}: ${expectation(issue)}${finding(issue, valueAt(content, issue.path))}`,
  );
}

/** `macPrefixes[0].portt: unknown key; did you mean port?`. Keys below secret keys are not quoted: they may be the secret. */
export function describeUnknownKeys(
  schema: z.core.$ZodType,
  content: unknown,
  path: readonly PropertyKey[] = [],
): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return describeUnknownKeys(schema.unwrap(), content, path);
  if (typeof content !== 'object' || content === null) return [];
  if (schema instanceof z.ZodArray && Array.isArray(content))
    return content.flatMap((item, index) => describeUnknownKeys(schema.element, item, [...path, index]));
  const members = Object.entries(content);
  if (schema instanceof z.ZodRecord)
    return members.flatMap(([key, value]) => describeUnknownKeys(schema.valueType, value, [...path, key]));
  if (!(schema instanceof z.ZodObject) || Array.isArray(content)) return [];
  const known = Object.keys(schema.shape);
  return members.flatMap(([key, value]) => {
    const member: unknown = Object.hasOwn(schema.shape, key) ? schema.shape[key] : undefined;
    if (member instanceof z.ZodType) return describeUnknownKeys(member, value, [...path, key]);
    if (isSecret(path)) return [`${keyText(path)}: unknown key; expected ${known.join(', ')}`];
    return [`${keyText([...path, key])}: unknown key; ${suggestion(key, known)}`];
  });
}

function suggestion(key: string, known: readonly string[]): string {
  const nearest = nearestOf(key, known);
  return nearest === undefined ? `expected ${known.join(', ')}` : `did you mean ${nearest}?`;
}

const typeTexts: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

function expectation(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return `expected ${typeTexts[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value')
    return `expected ${issue.values.map((value) => (value === '' ? 'empty' : String(value))).join(', ')}`;
  return issue.message;
}

function finding({ code, path }: z.core.$ZodIssue, value: unknown): string {
  if ((code === 'invalid_value' || code === 'invalid_format') && typeof value === 'string' && !isSecret(path))
    return `, found "${withoutUserInfo(value)}"`;
  return code === 'invalid_type' || code === 'invalid_value' ? `, found ${describeType(value)}` : '';
}

const isSecret = (path: readonly PropertyKey[]): boolean =>
  path.some((part) => /credential|password|auth|token|secret/i.test(String(part)));

const withoutUserInfo = (text: string): string => text.replaceAll(/\/\/[^/]*@/g, '//…@').slice(0, 60);

function describeType(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeTexts[typeof value] ?? 'another value';
}

function keyText(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>(
    (before, part) => (typeof part === 'number' ? `${before}[${part}]` : `${before}.${withoutUserInfo(String(part))}`),
    '',
  );
  return text === '' ? 'the file' : text.replace(/^\./, '');
}

const valueAt = (content: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, part) => (typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined),
    content,
  );
