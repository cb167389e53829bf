import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusalIn } from './butane-report.ts';

const yaml = (...lines: string[]): string => ['variant: fcos', 'version: 1.3.0', ...lines].join('\n');

/** Reports of butane 0.26.0 as it wrote them. */
const rows: readonly [title: string, report: string, document: string, told: string][] = [
  [
    'an unknown key',
    'warning at $.passwd.users.0.passwort_hash, line 6 col 7: unused key passwort_hash\nConfig produced warnings and --strict was specified\n',
    '',
    'line 6 column 7: unknown key (passwd.users.0)',
  ],
  [
    'several mistakes',
    'error at $.systemd.units.0.name, line 5 col 13: invalid systemd unit extension\nwarning at $.systemd.units.1.contents, line 11 col 17: unit "tenant.service" is enabled, but has no install section so enable does nothing\nError translating config: config generated was invalid\n',
    '',
    'line 5 column 13: invalid systemd unit extension (systemd.units.0.name); line 11 column 17: unit … is enabled, but has no install section so enable does nothing (systemd.units.1.contents)',
  ],
  [
    'more mistakes than fit',
    Array.from({ length: 5 }, (_, index) => `error at $.storage.files.${index}, line ${index + 4} col 7: bad`).join(
      '\n',
    ),
    '',
    'line 4 column 7: bad (storage.files.0); line 5 column 7: bad (storage.files.1); line 6 column 7: bad (storage.files.2); and 2 more',
  ],
  [
    'text for a number: its column is looked up',
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
    'a text that has quotation marks of its own, over two lines',
    'Error translating config: yaml: unmarshal errors:\n  line 6: cannot unmarshal !!str `x`\nhunter2` into int\n',
    yaml('storage:', '  files:', '    - path: /a', '      mode: "x`\\nhunter2"'),
    'butane refuses it for a reason that may quote it; see butane --strict --raw',
  ],
  [
    'a key that is there twice',
    'Error translating config: Error unmarshaling yaml: yaml: unmarshal errors:\n  line 4: mapping key "hunter2" already defined at line 3\n',
    yaml('hunter2: 1', 'hunter2: 2'),
    'line 4 column 1: a key that line 3 has already',
  ],
  [
    'what is no YAML: the place is that of our own parser',
    'Error translating config: Error unmarshaling yaml: yaml: line 5: found character that cannot start any token\n',
    yaml('passwd:', '  users:', '\t- name: hunter2'),
    'line 5 column 1: no YAML: found character that cannot start any token',
  ],
  [
    'an anchor that there is not',
    "Error translating config: Error unmarshaling yaml: yaml: unknown anchor 'hunter2' referenced\n",
    yaml('passwd: *hunter2'),
    'line 3 column 9: no YAML: unknown anchor … referenced',
  ],
  [
    'no variant',
    'Error translating config: error parsing variant; must be specified\n',
    'a: b\n',
    'line 1 column 1: expected variant: fcos',
  ],
  [
    'a version that is none',
    'Error translating config: error parsing version; must be a valid semver\n',
    'variant: fcos\nversion: hunter2\n',
    'line 2 column 10: expected version: 1.6.0',
  ],
  [
    'a variant that there is not',
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

for (const [title, report, document, told] of rows) test(title, () => assert.equal(refusalIn(report, document), told));
