import { TemplateError } from './errors.ts';
import { functions, isTrue, memberOf, textOf, type Value } from './functions.ts';
import { type Command, type Operand, parse, type Pipeline, type Statement } from './parse.ts';

/** Data of a template. An undefined member is known but not set; a missing one is an error. */
export type TemplateData = Readonly<Record<string, unknown>>;

export interface Template {
  /** Members of the data that the template names, also in branches that are not rendered. */
  readonly names: ReadonlySet<string>;
  /** @throws TemplateError with line and construct for a member that the data does not have. */
  render(data: TemplateData): string;
}

/**
 * The part of Go's text/template that is needed to write a document from data: fields, `if`, `with`, `range`, pipelines,
 * the functions of `functions.ts`, trimming and comments. Any other construct is rejected by name, so that a template never
 * renders partly.
 * @throws TemplateError naming line and construct.
 */
export function templateOf(text: string): Template {
  const statements = parse(text);
  return {
    names: new Set(namesIn(statements, true)),
    render: (data) => renderAll(statements, { dot: data, variables: new Map([['$', data]]) }),
  };
}

interface Scope {
  readonly dot: Value;
  readonly variables: ReadonlyMap<string, Value>;
}

const renderAll = (statements: readonly Statement[], scope: Scope): string =>
  statements.map((statement) => render(statement, scope)).join('');

function render(statement: Statement, scope: Scope): string {
  if (statement.kind === 'text') return statement.text;
  const value = inside(statement, () => evaluate(statement.pipeline, scope));
  switch (statement.kind) {
    case 'print':
      return inside(statement, () => textOf(value));
    case 'if':
      return renderAll(isTrue(value) ? statement.inner : statement.otherwise, scope);
    case 'with':
      return isTrue(value)
        ? renderAll(statement.inner, { ...scope, dot: value })
        : renderAll(statement.otherwise, scope);
    case 'range':
      return inside(statement, () => renderEach(statement, entriesOf(value), scope));
  }
}

function renderEach(
  { variables, inner, otherwise }: Statement & { kind: 'if' | 'with' | 'range' },
  entries: readonly (readonly [key: Value, value: Value])[],
  scope: Scope,
): string {
  if (entries.length === 0) return renderAll(otherwise, scope);
  return entries
    .map(([key, value]) => {
      const values = variables.length === 2 ? [key, value] : [value];
      const named = variables.map((name, index) => [name, values[index]] as const);
      return renderAll(inner, { dot: value, variables: new Map([...scope.variables, ...named]) });
    })
    .join('');
}

/** Maps are sorted by key, as in Go. */
function entriesOf(value: Value): (readonly [key: Value, value: Value])[] {
  if (Array.isArray(value)) return value.map((entry: Value, index) => [index, entry]);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (value === undefined || value === null) return [];
  throw new TypeError('only lists and maps can be ranged over');
}

function evaluate(pipeline: Pipeline, scope: Scope): Value {
  let result: { readonly value: Value } | undefined;
  for (const command of pipeline) result = { value: run(command, result, scope) };
  return result?.value;
}

function run({ call, operands }: Command, piped: { readonly value: Value } | undefined, scope: Scope): Value {
  const values = operands.map((operand) => valueOf(operand, scope));
  if (call === undefined) return values[0];
  const all = piped === undefined ? values : [...values, piped.value];
  // The parser accepts only names of functions; each checks its arguments.
  const work = Reflect.get(functions, call) as (...values: Value[]) => Value;
  if (all.length < Math.max(work.length, 1)) throw new TypeError(`${call} has too few arguments`);
  return work(...all);
}

function valueOf(operand: Operand, scope: Scope): Value {
  if (operand.kind === 'literal') return operand.value;
  if (operand.kind === 'pipeline') return evaluate(operand.pipeline, scope);
  const start = operand.start === '' ? scope.dot : scope.variables.get(operand.start);
  return operand.members.reduce<Value>((value, member, index) => {
    const path = `${operand.start}.${operand.members.slice(0, index).join('.')}`;
    return step(value, member, path);
  }, start);
}

function step(value: Value, member: string, path: string): Value {
  if (typeof value !== 'object' || value === null)
    throw new TypeError(
      `${path} ${value === undefined || value === null ? 'is not set' : 'has no members'}, so it has no ${member}`,
    );
  if (Object.hasOwn(value, member)) return memberOf(value, member);
  throw new TypeError(`there is no ${member}; there are ${listOf(Object.keys(value))}`);
}

function inside<T>({ line, body }: { line: number; body: string }, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new TemplateError(line, `{{ ${body} }}: ${error.message}`);
  }
}

/** Dot is the data unless `with` or `range` has changed it. */
function namesIn(statements: readonly Statement[], dotIsData: boolean): string[] {
  return statements.flatMap((statement) => {
    if (statement.kind === 'text') return [];
    const named = namesInPipeline(statement.pipeline, dotIsData);
    if (statement.kind === 'print') return named;
    const stays = dotIsData && statement.kind === 'if';
    return [...named, ...namesIn(statement.inner, stays), ...namesIn(statement.otherwise, dotIsData)];
  });
}

const namesInPipeline = (pipeline: Pipeline, dotIsData: boolean): string[] =>
  pipeline.flatMap(({ operands }) =>
    operands.flatMap((operand) => {
      if (operand.kind === 'pipeline') return namesInPipeline(operand.pipeline, dotIsData);
      if (operand.kind === 'literal') return [];
      const [name] = operand.members;
      const isOfData = operand.start === '$' || (operand.start === '' && dotIsData);
      return isOfData && name !== undefined ? [name] : [];
    }),
  );

const mostListed = 5;

function listOf(names: readonly string[]): string {
  if (names.length <= mostListed) return names.join(', ') || 'none at all';
  return `${names.slice(0, mostListed).join(', ')} and ${names.length - mostListed} more`;
}
