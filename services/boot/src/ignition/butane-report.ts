import { type Place, Places, parseLine } from './butane-places.ts';

interface Finding extends Place {
  readonly message: string;
}

const maxFindings = 2;
/** Only the beginning of the report is read; its relevant lines are short. */
const maxReportBytes = 65_536;
const maxReportLines = 64;
const maxLineLength = 400;

/**
 * Describes the errors of a rejected document without a quote from it: a document contains credentials, and butane quotes texts,
 * keys and names in its errors. Lines of an unknown form are left out.
 *
 * The cost does not depend on the number of errors: the report is truncated, reading stops at the fourth finding, and only the
 * lines of the document that findings name are parsed.
 */
export function describeFindings(report: Buffer, document: Buffer, parse = parseLine): string {
  const places = new Places(document.toString(), parse);
  const findings = firstFindings(report, places);
  if (findings.length === 0) return 'butane refuses it for a reason that may quote it; see butane --strict --raw';
  const messages = findings.slice(0, maxFindings).map((finding) => `${formatPlace(finding)}: ${finding.message}`);
  return `${messages.join('; ')}${findings.length > maxFindings ? '; and more' : ''}`;
}

/** One more than is shown. */
function firstFindings(report: Buffer, places: Places): Finding[] {
  const lines = report.subarray(0, maxReportBytes).toString().split('\n', maxReportLines);
  const findings: Finding[] = [];
  for (const line of lines) {
    const finding = findingIn(line.slice(0, maxLineLength), places);
    if (finding !== undefined) findings.push(finding);
    if (findings.length > maxFindings) break;
  }
  return findings;
}

function formatPlace({ line, column, isNear }: Place): string {
  if (column !== undefined) return `line ${line} column ${column}`;
  return isNear ? `near line ${line}` : `line ${line} (the column could not be determined)`;
}

type Reader = (parts: readonly string[], places: Places) => Finding;

/** The known forms of error lines; other lines are summaries. */
const shapes: readonly [RegExp, Reader][] = [
  [
    /^(?:error|warning) at \$([\w.-]*)\.[^,]*, line (\d+) col (\d+): unused key /i,
    ([path = '', line, column]) => ({ ...at(line, column), message: `unknown key${within(path)}` }),
  ],
  [
    /^(?:error|warning) at \$([\w.-]*), line (\d+) col (\d+): (.*)$/,
    ([path = '', line, column, message = '']) => ({
      ...at(line, column),
      message: `${unquoted(message)}${within(path)}`,
    }),
  ],
  [
    /^\s*line (\d+): cannot unmarshal !!(\w+).* into (\S+)$/,
    ([line, tag = '', type = ''], places) => ({
      ...places.ofValue(Number(line), tag),
      message: `expected ${nameOfType(type)}, found ${nameOfTag(tag)}`,
    }),
  ],
  [
    /^\s*line (\d+): mapping key .* already defined at line (\d+)$/,
    ([line, before], places) => ({ ...places.ofLine(Number(line)), message: `a key that line ${before} has already` }),
  ],
  [
    /^Error .* yaml: (?:line (\d+): )?([\w ,-]+(?: '.*)?)$/,
    ([line, message = ''], places) => ({
      ...places.ofSyntaxError(Number(line ?? 1), message),
      message: `no YAML: ${unquoted(message)}`,
    }),
  ],
  [
    /^Error .*error parsing (variant|version);/,
    ([key = ''], places) => ({ ...places.ofKey(key), message: `expected ${key}: ${examples[key] ?? ''}` }),
  ],
  [
    /^Error .*No translator exists for variant /,
    (_, places) => ({ ...places.ofKey('version'), message: 'butane does not know this variant in this version' }),
  ],
];

const examples: Readonly<Record<string, string>> = { variant: 'fcos', version: '1.6.0' };

function findingIn(line: string, places: Places): Finding | undefined {
  for (const [shape, read] of shapes) {
    const [whole, ...parts] = shape.exec(line) ?? [];
    if (whole !== undefined) return read(parts, places);
  }
  return undefined;
}

const at = (line = '1', column = '1') => ({ line: Number(line), column: Number(column) });
const within = (path: string): string => (path === '' ? '' : ` (${path.replace(/^\./, '')})`);
/** From the first quotation mark to the last, as the quoted text may contain some. */
const unquoted = (text: string): string => text.replace(/["'`].*["'`]|["'`].*$/, '…').trim();

const typeNames: Readonly<Record<string, string>> = {
  str: 'text',
  seq: 'a list',
  map: 'a map',
  int: 'a number',
  bool: 'true or false',
};
const nameOfTag = (tag: string): string => typeNames[tag] ?? tag;

/** Go's name of a type: `[]v0_3.File`, `int`, `string`, or a structure. */
function nameOfType(type: string): string {
  if (type.startsWith('[]')) return 'a list';
  return { int: 'a number', string: 'text', bool: 'true or false' }[type] ?? 'a map';
}
