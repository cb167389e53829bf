import { createServer, type IncomingMessage } from 'node:http';
import * as z from 'zod';
import { wallClock } from './clock.ts';
import { listenError } from './errors.ts';
import type { Fleet } from './fleet.ts';
import { Journal, type JournalPage } from './journal.ts';
import type { Node } from './node.ts';
import { readJson, readWhole } from './request-body.ts';

const attributeValues = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));

const faultRequest = z
  .strictObject({
    latencyMs: z.number().min(0),
    hang: z.boolean(),
    refuse: z.boolean(),
    status: z.number().int().min(400).max(599),
    cutsConnections: z.boolean(),
    failsWriteResponses: z.number().int().min(0).max(599),
    dripMs: z.number().min(0),
    ignoresOverride: z.boolean(),
    lacksBiosReset: z.boolean(),
    biosResetStuck: z.boolean(),
    rejectsAttribute: z.string(),
    dropsPendingSettings: z.boolean(),
    keepsPendingSettings: z.boolean(),
    mirrorsSettings: z.boolean(),
    ignoresBootOrder: z.boolean(),
    powerNeverChanges: z.boolean(),
    ignoresShutdown: z.boolean(),
    manglesPasswords: z.boolean(),
    truncates: z.boolean(),
    answersGarbage: z.boolean(),
    uuid: z.string().nullable(),
    untrusted: z.boolean(),
    anonymous: z.boolean(),
    eventsDisabled: z.boolean(),
    health: z.enum(['Warning', 'Critical']).nullable(),
    managerHealth: z.enum(['Warning', 'Critical']).nullable(),
    rejectsUpdates: z.boolean(),
    downloadFails: z.boolean(),
    checksumFails: z.boolean(),
    updateStuck: z.boolean(),
    updateTaskVanishes: z.boolean(),
    versionUnchanged: z.boolean(),
    silentAfterUpdateMs: z.number().min(0),
    powerLostWhileFlashing: z.boolean(),
    dropSessions: z.boolean(),
    dropConnections: z.boolean(),
    restart: z.boolean(),
    factoryReset: z.boolean(),
    pendingBios: attributeValues,
    pendingManager: attributeValues,
    machineHangs: z.boolean(),
    networkLost: z.boolean(),
    forMs: z.number().positive(),
    times: z.number().int().positive(),
    path: z.string(),
  })
  .partial();
type FaultRequest = z.output<typeof faultRequest>;

const bootUrl = z.strictObject({ url: z.url() });

interface ControlResponse {
  readonly status: number;
  readonly body: unknown;
}

/** The routes of the control API, for the help text. */
export const controlRoutes: readonly string[] = [
  'GET  /nodes                  state and faults of every server',
  'GET  /nodes/<name>           one server, with its boots and the last requests to its BMC',
  'POST /nodes/<name>/faults    {"hang": true, "forMs": 60000}; <name> may be * for all',
  'POST /nodes/<name>/heal      ends every fault',
  'GET  /counts                 requests by route',
  'POST /journal                requests by connection since the last call; the first call starts recording',
  'POST /boot-url               {"url": "http://127.0.0.1:8082"}',
];

/** Faults at run time, over HTTP on the loopback interface. */
export async function startControl(fleet: Fleet, port: number): Promise<AsyncDisposable & { readonly port: number }> {
  let journal: Journal | undefined;
  const takePage = () => (journal ??= new Journal(fleet, () => wallClock.now())).takePage();
  const server = createServer((request, response) => {
    handleRequest(fleet, request, takePage).then(
      ({ status, body }) =>
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(`${JSON.stringify(body, undefined, 2)}\n`),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve)).catch(
    (error: unknown) => {
      throw listenError('127.0.0.1', port, error);
    },
  );
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handleRequest(
  fleet: Fleet,
  request: IncomingMessage,
  takePage: () => JournalPage,
): Promise<ControlResponse> {
  const [, area = '', name, verb] = (request.url ?? '').split('?', 1)[0]?.split('/') ?? [];
  const route = `${request.method} /${area}`;
  // Browsers send an Origin header: web pages have no access to the fleet.
  if (request.headers.origin !== undefined) return { status: 403, body: { error: 'not for web pages' } };
  if (route === 'GET /nodes' && name === undefined) return { status: 200, body: fleet.nodes.map(summaryOf) };
  if (route === 'GET /counts')
    return { status: 200, body: { total: fleet.requestCount, byRoute: Object.fromEntries(fleet.requestCounts) } };
  if (route === 'POST /journal') return { status: 200, body: takePage() };
  if (route === 'POST /boot-url') return changeBootUrl(fleet, request);
  if (area !== 'nodes' || name === undefined)
    return { status: 404, body: { error: 'no such route', routes: controlRoutes } };
  const nodes = name === '*' ? fleet.nodes : fleet.nodes.filter((node) => node.name === name);
  if (nodes.length === 0) return { status: 404, body: { error: `there is no node "${name}"` } };
  if (request.method === 'GET') return { status: 200, body: nodes.map(detailsOf) };
  if (request.method === 'POST' && verb === 'heal') return heal(nodes);
  if (request.method === 'POST' && verb === 'faults') return injectFaults(nodes, request);
  return { status: 404, body: { error: 'no such route', routes: controlRoutes } };
}

async function changeBootUrl(fleet: Fleet, request: IncomingMessage): Promise<ControlResponse> {
  const parsed = bootUrl.safeParse(readJson(await readWhole(request)));
  if (!parsed.success) return { status: 400, body: { error: z.prettifyError(parsed.error) } };
  fleet.setBootUrl(parsed.data.url);
  return { status: 200, body: parsed.data };
}

async function heal(nodes: readonly Node[]): Promise<ControlResponse> {
  await Promise.all(nodes.map(({ bmc }) => bmc.heal()));
  for (const { machines } of nodes) for (const machine of machines) machine.heal();
  return { status: 200, body: nodes.map(summaryOf) };
}

async function injectFaults(nodes: readonly Node[], request: IncomingMessage): Promise<ControlResponse> {
  const parsed = faultRequest.safeParse(readJson(await readWhole(request)));
  if (!parsed.success) return { status: 400, body: { error: z.prettifyError(parsed.error) } };
  await Promise.all(nodes.map((node) => apply(node, parsed.data)));
  return { status: 200, body: nodes.map(summaryOf) };
}

async function apply(
  { bmc, machines }: Node,
  {
    refuse,
    untrusted,
    dropSessions,
    dropConnections,
    restart,
    factoryReset,
    pendingBios,
    pendingManager,
    machineHangs,
    networkLost,
    ...requested
  }: FaultRequest,
): Promise<void> {
  const { forMs, times, path, ...faults } = requested;
  const limit = { forMs, times, path };
  bmc.set(withoutUndefined(faults), limit);
  if (untrusted === true) await bmc.showUntrustedCertificate(limit);
  if (dropSessions === true) bmc.dropSessions();
  if (dropConnections === true) bmc.dropConnections();
  if (restart === true) bmc.restart();
  if (factoryReset === true) bmc.factoryReset();
  if (pendingBios !== undefined) for (const machine of machines) bmc.setPendingBios(pendingBios, machine);
  if (pendingManager !== undefined) bmc.setPendingManager(pendingManager);
  if (machineHangs === true) for (const machine of machines) machine.hang();
  if (networkLost === true) for (const machine of machines) machine.loseNetwork();
  if (refuse === true) await bmc.refuse(limit);
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Removes undefined properties. */
const withoutUndefined = <T extends object>(value: T): Defined<T> =>
  // The entries are those of the value, without the ones that hold undefined.
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<T>;

const summaryOf = ({ name, vendor, uuid, power, bootLog, running, bmc }: Node) => ({
  name,
  vendor,
  bmc: bmc.url,
  macAddress: bmc.macAddress,
  systemUUID: uuid,
  power,
  running: running?.role,
  lastBootStep: bootLog.at(-1),
  sessions: bmc.openSessions,
  requests: bmc.traffic.total,
  faults: bmc.activeFaults,
});

const detailsOf = (node: Node) => ({
  ...summaryOf(node),
  powerLog: node.powerLog,
  bootLog: node.bootLog,
  boots: node.boots,
  flashes: node.bmc.flashes,
  lastRequests: node.bmc.requests.slice(-50),
});
