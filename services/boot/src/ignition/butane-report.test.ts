import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLine } from './butane-places.ts';
import { describeFindings } from './butane-report.ts';

const yaml = (...lines: string[]): string => ['variant: fcos', 'version: 1.3.0', ...lines].join('\n');

/** Reports of butane 0.26.0 as it wrote them. */
const rows: readonly [title: string, report: string, document: string, expected: string][] = [
  [
    'an unknown key',
    'warning at $.passwd.users.0.passwort_hash, line 6 col 7: unused key passwort_hash\nConfig produced warnings and --strict was specified\n',
    '',
    'line 6 column 7: unknown key (passwd.users.0)',
  ],
  [
    'several errors',
    'error at $.systemd.units.0.name, line 5 col 13: invalid systemd unit extension\nwarning at $.systemd.units.1.contents, line 11 col 17: unit "tenant.service" is enabled, but has no install section so enable does nothing\nError translating config: config generated was invalid\n',
    '',
    'line 5 column 13: invalid systemd unit extension (systemd.units.0.name); line 11 column 17: unit … is enabled, but has no install section so enable does nothing (systemd.units.1.contents)',
  ],
  [
    'more errors than are shown',
    Array.from({ length: 5 }, (_, index) => `error at $.storage.files.${index}, line ${index + 4} col 7: bad`).join(
      '\n',
    ),
    '',
    'line 4 column 7: bad (storage.files.0); line 5 column 7: bad (storage.files.1); and more',
  ],
  [
    'text for a number: the column is determined',
    'Error translating config: yaml: unmarshal errors:\n  line 6: cannot unmarshal !!str `hunter2...` into int\n',
    yaml('storage:', '  files:', '    - path: /a', '      mode: hunter2hunter2'),
    'line 6 column 13: expected a number, found text',
  ],
  [
    'a list for text',
    'Error translating config: yaml: unmarshal errors:\n  line 5: cannot unmarshal !!seq into string\n',
    yaml('passwd:', '  users:', '    - name: [hunter2]'),
    'line 5 column 13: expected text, found a list',
  ],
  [
    'a text with quotation marks, over two lines',
    'Error translating config: yaml: unmarshal errors:\n  line 6: cannot unmarshal !!str `x`\nhunter2` into int\n',
    yaml('storage:', '  files:', '    - path: /a', '      mode: "x`\\nhunter2"'),
    'butane refuses it for a reason that may quote it; see butane --strict --raw',
  ],
  [
    'a duplicate key',
    'Error translating config: Error unmarshaling yaml: yaml: unmarshal errors:\n  line 4: mapping key "hunter2" already defined at line 3\n',
    yaml('hunter2: 1', 'hunter2: 2'),
    'line 4 column 1: a key that line 3 has already',
  ],
  [
    'invalid YAML: the position is that of our parser',
    'Error translating config: Error unmarshaling yaml: yaml: line 5: found character that cannot start any token\n',
    yaml('passwd:', '  users:', '\t- name: hunter2'),
    'line 5 column 1: no YAML: found character that cannot start any token',
  ],
  [
    'an undefined anchor',
    "Error translating config: Error unmarshaling yaml: yaml: unknown anchor 'hunter2' referenced\n",
    yaml('passwd: *hunter2'),
    'line 3 column 9: no YAML: unknown anchor … referenced',
  ],
  [
    'an error that butane reports for the collection above it',
    'Error translating config: Error unmarshaling yaml: yaml: line 3: did not find expected key\n',
    yaml('passwd:', '  users:', '    - name: a', '   groups: hunter2'),
    'line 6 column 1: no YAML: did not find expected key',
  ],
  [
    'no variant',
    'Error translating config: error parsing variant; must be specified\n',
    'a: b\n',
    'line 1 column 1: expected variant: fcos',
  ],
  [
    'an invalid version',
    'Error translating config: error parsing version; must be a valid semver\n',
    'variant: fcos\nversion: hunter2\n',
    'line 2 column 10: expected version: 1.6.0',
  ],
  [
    'an unknown variant',
    'Error translating config: No translator exists for variant hunter2 with version 1.0.0\n',
    'variant: hunter2\nversion: 1.0.0\n',
    'line 2 column 10: butane does not know this variant in this version',
  ],
  [
    'anything else',
    'panic: hunter2\n',
    '',
    'butane refuses it for a reason that may quote it; see butane --strict --raw',
  ],
];

for (const [title, report, document, expected] of rows)
  test(title, () => assert.equal(describeFindings(Buffer.from(report), Buffer.from(document)), expected));

const tooMany = Array.from({ length: 31_000 }, (_, index) => index * 2 + 6);
const bad = yaml('storage:', '  files:', ...tooMany.map(() => '    - path: /a\n      mode: x'));
const anchors = Array.from({ length: 60_000 }, (_, index) => `k${index}: &a${index} x`);
const unmarshalErrors = (lines: readonly number[]): string =>
  `Error translating config: yaml: unmarshal errors:\n${lines.map((line) => `  line ${line}: cannot unmarshal !!str \`x\` into int\n`).join('')}`;
const oneLine = `{"variant": "fcos", "storage": {"files": [${'{"mode": "x"}, '.repeat(60_000)}]}}`;

/** Documents of 900 kB, and the reports of butane. */
const worst: readonly [title: string, report: string, document: string, expected: RegExp][] = [
  [
    '31,000 errors',
    unmarshalErrors(tooMany),
    bad,
    /^(line \d+ column 13: expected a number, found text; ){2}and more$/,
  ],
  [
    'very many anchors, and an undefined one',
    "Error translating config: Error unmarshaling yaml: yaml: unknown anchor 'lost' referenced\n",
    yaml(...anchors, 'passwd: *lost', ...anchors.map((line) => line.replace('k', 'l').replace('&', '*'))),
    /^line 60003 column 9: no YAML: unknown anchor … referenced$/,
  ],
  [
    'one enormous line',
    unmarshalErrors([1, 1, 1, 1]),
    oneLine,
    /^(line 1 \(the column could not be determined\): expected a number, found text; ){2}and more$/,
  ],
  [
    'an error in its last line',
    'Error translating config: Error unmarshaling yaml: yaml: line 62004: did not find expected key\n',
    bad,
    /^near line 62004: no YAML: did not find expected key$/,
  ],
  [
    'a key of nothing but dots',
    `warning at $${'.a'.repeat(400_000)}, line 3 col 1: unused key a\n`,
    oneLine,
    /^butane refuses it for a reason that may quote it/,
  ],
];
for (const [title, report, document, expected] of worst) {
  test(`of a document with ${title} no more than four lines are parsed, and only short ones`, () => {
    const parsed: number[] = [];
    const count: typeof parseLine = (text) => {
      parsed.push(text.length);
      return parseLine(text);
    };
    assert.match(describeFindings(Buffer.from(report), Buffer.from(document), count), expected);
    assert.ok(parsed.length <= 4, `${parsed.length} lines were parsed`);
    assert.ok(
      parsed.every((length) => length <= 1_000),
      'none is long',
    );
  });
}
