import { createServer, type IncomingMessage } from 'node:http';
import * as z from 'zod';
import type { Fleet } from './fleet.ts';

const wish = z
  .strictObject({
    latencyMs: z.number().min(0),
    hang: z.boolean(),
    refuse: z.boolean(),
    status: z.number().int().min(400).max(599),
    ignoresOverride: z.boolean(),
    powerNeverChanges: z.boolean(),
    truncates: z.boolean(),
    talksRubbish: z.boolean(),
    uuid: z.string().nullable(),
    ignoresShutdown: z.boolean(),
    dropSessions: z.boolean(),
  })
  .partial();

/** Faults over HTTP on the loopback interface: `POST /nodes/<name>/faults` and `POST /nodes/<name>/heal`. */
export async function startControl(fleet: Fleet, port: number): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((request, response) => {
    answer(fleet, request).then(
      ({ status, body }) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}

async function answer(fleet: Fleet, request: IncomingMessage): Promise<{ status: number; body: unknown }> {
  const [, nodes, name = '', verb] = (request.url ?? '').split('/');
  const node = fleet.nodes.find((candidate) => candidate.name === name);
  if (nodes !== 'nodes' || request.method !== 'POST')
    return { status: 404, body: { error: 'expected POST /nodes/<name>/faults or POST /nodes/<name>/heal' } };
  if (node === undefined) return { status: 404, body: { error: `there is no node "${name}"` } };
  if (verb === 'heal') {
    await node.bmc.heal();
    return { status: 200, body: node.bmc.faults };
  }
  const parsed = wish.safeParse(await jsonOf(request));
  if (!parsed.success) return { status: 400, body: { error: z.prettifyError(parsed.error) } };
  const { refuse, dropSessions, ...faults } = parsed.data;
  node.bmc.set(Object.fromEntries(Object.entries(faults).filter(([, value]) => value !== undefined)));
  if (dropSessions === true) node.bmc.dropSessions();
  if (refuse === true) await node.bmc.refuse();
  return { status: 200, body: node.bmc.faults };
}

async function jsonOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}
