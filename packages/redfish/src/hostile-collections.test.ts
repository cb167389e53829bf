import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { json } from '../test/stub-bmc.ts';

const program = join(import.meta.dirname, '../test/read-systems.ts');
const mebibytes = 1024 * 1024;

/** The content of a page; `next` is the path of the following page. */
type Page = (path: string, next: string) => Buffer;

/** Serves endless collections to a reader with a heap of 256 MiB, and returns its output. */
async function readFrom(page: Page): Promise<{ summaries: string[]; rssMiB: number }> {
  const pages = new Map<string, Buffer>();
  const respond = (url: string, response: ServerResponse): void => {
    const [path = '', number = '0'] = url.split('?page=');
    const link = (name: string) => ({ '@odata.id': `/redfish/v1/${name}` });
    const root = { Systems: link('Systems'), Managers: link('Managers') };
    if (path === '/redfish/v1/') return json(response, 200, { '@odata.id': path, ...root });
    if (!/(Systems|Managers)$/.test(path)) return json(response, 200, { '@odata.id': path });
    // Built once, except for the number of the next page, which always has the same number of digits.
    const rendered = pages.get(path) ?? page(path, `${path}?page=0000`);
    pages.set(path, rendered);
    rendered.write(String(Number(number) + 1).padStart(4, '0'), rendered.lastIndexOf('?page=') + 6);
    response.end(Buffer.from(rendered));
  };
  const server = createServer(({ url = '' }, response) => respond(url, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    // A server that listens on TCP has an address with a port.
    const { port } = server.address() as AddressInfo;
    const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=256', program, String(port)]);
    return JSON.parse(stdout) as Awaited<ReturnType<typeof readFrom>>;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const collection = (members: string, next: string): Buffer =>
  Buffer.from(`{"Members":[${members}],"Members@odata.nextLink":"${next}"}`);
const links = (count: number, path: string, padding = ''): string =>
  Array.from({ length: count }, (_, index) => `{"@odata.id":"${path}/${index}${padding}"}`).join();

const rows: [title: string, page: Page, summaries: RegExp][] = [
  [
    'a hundred pages of 8 MiB, with some members each',
    (path, next) => {
      const text = `{"@odata.id":"${path}/1","Name":"${'x'.repeat(8 * mebibytes - 500)}"}`;
      return collection(text, next);
    },
    /^BadAnswer \/redfish\/v1\/(Systems|Managers): expected at most 16777216 characters, found \d+ or more/,
  ],
  [
    'a hundred pages of 8 MiB, full of members',
    (path, next) => collection(links(55_000, path, 'x'.repeat(100)), next),
    /^BadAnswer \/redfish\/v1\/(Systems|Managers): expected at most 1000 members, found 55000 or more/,
  ],
  [
    'a million members in pages',
    (_path, next) => collection(links(250_000, ''), next),
    /^BadAnswer \/redfish\/v1\/(Systems|Managers): expected at most 1000 members, found 250000 or more/,
  ],
  [
    'a million members in one page',
    (_path, next) => collection(links(1_000_000, ''), next),
    /^BadAnswer GET \/redfish\/v1\/(Systems|Managers): more than 8388608 bytes/,
  ],
];
for (const [title, page, expected] of rows) {
  test(`${title} end in an error that names the collection and the limit, within the memory`, async () => {
    const { summaries, rssMiB } = await readFrom(page);
    for (const each of summaries) assert.match(each, expected);
    assert.ok(rssMiB < 400, `${Math.round(rssMiB)} MiB`);
  });
}
