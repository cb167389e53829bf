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

/** The content of a YAML or JSON file. @throws ConfigError with the option, the path and the place of the error; it quotes no text */
export function readYamlFile(
  { flag, path }: FileSource,
  options: ParseOptions & Pick<SchemaOptions, 'schema'> = {},
): unknown {
  try {
    return parse(readFileSync(path, 'utf8'), options) ?? {};
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

/** @throws ConfigError with the option, the path, and the key, the expectation and the finding of each error */
export function validateFile<Schema extends z.ZodType>(
  { flag, path }: FileSource,
  schema: Schema,
  content: unknown,
): z.output<Schema> {
  const { data, error } = schema.safeParse(content);
  if (error === undefined) return data;
  throw new ConfigError(`--${flag}: ${path}: ${describeIssues(error, schema, content)}`, error);
}

const maxIssues = 3;

/** `macPrefixes[0].portt: unknown key; did you mean port?`, joined by semicolons. Values below secret keys are not quoted. */
export function describeIssues({ issues }: z.ZodError, schema: z.ZodType, content: unknown): string {
  const texts = issues.slice(0, maxIssues).flatMap((issue) => textsOf(issue, schema, content));
  return [...texts, ...(issues.length > maxIssues ? [`and ${issues.length - maxIssues} more`] : [])].join('; ');
}

function textsOf(issue: z.core.$ZodIssue, schema: z.ZodType, content: unknown): string[] {
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, issue.path);
    return issue.keys.map((key) => `${keyText([...issue.path, key])}: unknown key; ${suggestion(key, known)}`);
  }
  return [`${keyText(issue.path)}: ${expectation(issue)}${finding(issue, valueAt(content, issue.path))}`];
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
  if (code !== 'invalid_type' && code !== 'invalid_value') return '';
  return `, found ${describeValue(
    value,
    path.some((part) => /credential|password|auth|token/i.test(String(part))),
  )}`;
}

function describeValue(value: unknown, isSecret: boolean): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  return isSecret ? 'another value' : JSON.stringify(value).slice(0, 60);
}

function keyText(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>(
    (before, part) => (typeof part === 'number' ? `${before}[${part}]` : `${before}.${String(part)}`),
    '',
  );
  return text === '' ? 'the file' : text.replace(/^\./, '');
}

const valueAt = (content: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, part) => (typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined),
    content,
  );

/** The keys that the schema knows at the path. */
function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const [part, ...rest] = path;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return keysAt(schema.unwrap(), path);
  if (schema instanceof z.ZodArray) return keysAt(schema.element, rest);
  if (schema instanceof z.ZodRecord) return keysAt(schema.valueType, rest);
  if (!(schema instanceof z.ZodObject)) return [];
  if (part === undefined) return Object.keys(schema.shape);
  const member: unknown = schema.shape[String(part)];
  return member instanceof z.ZodType ? keysAt(member, rest) : [];
}
