import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { describeIssues, describeUnknownKeys } from './file-content.ts';

const schema = z.object({
  hosts: z
    .array(
      z.object({
        port: z.coerce.number(),
        scheme: z.enum(['http', 'https']).optional(),
        credentials: z.array(z.object({ name: z.string().optional(), scheme: z.enum(['plain']).optional() })).nullish(),
      }),
    )
    .nullish(),
});

const rows: readonly [content: unknown, text: string][] = [
  [{ hosts: [{}] }, 'hosts[0].port: expected a number, found nothing'],
  [{ hosts: [{ port: 'x' }] }, 'hosts[0].port: expected a number, found a text'],
  [{ hosts: {} }, 'hosts: expected a list, found a mapping'],
  [{ hosts: [{ port: 1, scheme: 'ftp' }] }, 'hosts[0].scheme: expected http, https, found "ftp"'],
  [
    { hosts: [{ port: 1, scheme: 'http://u:p@192.0.2.1/' }] },
    'hosts[0].scheme: expected http, https, found "http://…@192.0.2.1/"',
  ],
  [
    { hosts: [{ port: 1, credentials: [{ scheme: 'p' }] }] },
    'hosts[0].credentials[0].scheme: expected plain, found a text',
  ],
  [{ hosts: [{ port: 1, credentials: 'a:b' }] }, 'hosts[0].credentials: expected a list, found a text'],
  ['text', 'the file: expected a mapping, found a text'],
];
for (const [content, expected] of rows)
  test(`an error in a file has key, expectation and finding: ${expected}`, () => {
    const { error } = schema.safeParse(content);
    assert.ok(error);
    assert.equal(describeIssues(error, content).join('; '), expected);
  });

const unknown: readonly [content: unknown, texts: string[]][] = [
  [{ hosts: [{ prt: 1, port: 1 }] }, ['hosts[0].prt: unknown key; did you mean port?']],
  [{ hosts: [{ port: 1, credential: [] }] }, ['hosts[0].credential: unknown key; did you mean credentials?']],
  [{ other: 1, hosts: null }, ['other: unknown key; expected hosts']],
  [{ hosts: [{ credentials: [{ hunter2: 1 }] }] }, ['hosts[0].credentials[0]: unknown key; expected name, scheme']],
  [{ 'http://u:p@192.0.2.1': 1 }, ['http://…@192.0.2.1: unknown key; expected hosts']],
  ['text', []],
];
for (const [content, texts] of unknown)
  test(`unknown keys are described without secrets: ${JSON.stringify(content)}`, () =>
    assert.deepEqual(describeUnknownKeys(schema, content), texts));
