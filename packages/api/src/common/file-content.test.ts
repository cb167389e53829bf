import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { describeIssues } from './file-content.ts';

const schema = z.strictObject({
  hosts: z
    .array(
      z.strictObject({
        port: z.coerce.number(),
        scheme: z.enum(['http', 'https']).optional(),
        credentials: z.array(z.object({ name: z.string() })).nullish(),
      }),
    )
    .nullish(),
});

const rows: readonly [content: unknown, text: string][] = [
  [{ hosts: [{ prt: 1, port: 1 }] }, 'hosts[0].prt: unknown key; did you mean port?'],
  [{ hosts: [{ port: 1, credential: [] }] }, 'hosts[0].credential: unknown key; did you mean credentials?'],
  [{ other: 1 }, 'other: unknown key; expected hosts'],
  [{ hosts: [{}] }, 'hosts[0].port: expected a number, found nothing'],
  [{ hosts: [{ port: 'x' }] }, 'hosts[0].port: expected a number, found "x"'],
  [{ hosts: {} }, 'hosts: expected a list, found a mapping'],
  [{ hosts: [{ port: 1, scheme: 'ftp' }] }, 'hosts[0].scheme: expected http, https, found "ftp"'],
  [{ hosts: [{ port: 1, credentials: 'a:b' }] }, 'hosts[0].credentials: expected a list, found another value'],
  ['text', 'the file: expected a mapping, found "text"'],
];
for (const [content, expected] of rows)
  test(`an error in a file has key, expectation and finding: ${expected}`, () => {
    const { error } = schema.safeParse(content);
    assert.ok(error);
    assert.equal(describeIssues(error, schema, content), expected);
  });
