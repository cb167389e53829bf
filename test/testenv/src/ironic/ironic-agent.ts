import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import type { Running } from '@metal/simulator/boot.ts';
import type { FleetAuthority } from '@metal/simulator/certificates.ts';
import type { Hardware } from '@metal/simulator/hardware.ts';
import { z } from 'zod';
import { AgentError, type AgentWork } from './ironic-agent-work.ts';
import { inventoryOf } from './ironic-agent-inventory.ts';

/** Sooner than in production, where it is minutes. Each one locks the node for a moment. */
const heartbeatMs = 1_500;
const agentVersion = '11.0.0';
/** Of the API of Ironic: the first one with the node in the answer to an inspection. */
const apiVersion = '1.84';
const address = '127.0.0.1';

const lookup = z.object({
  node: z.object({ uuid: z.string() }),
  config: z.object({ agent_token: z.string() }),
});
type Lookup = z.infer<typeof lookup>;
const commandOrder = z.object({ name: z.string(), params: z.unknown() });

export interface IronicAgentOptions {
  readonly hardware: Hardware;
  /** Arguments of the kernel. */
  readonly parameters: Running['parameters'];
  readonly authority: FleetAuthority;
  readonly work: AgentWork;
}

interface Command {
  readonly id: string;
  readonly command_name: string;
  readonly command_params: unknown;
  command_status: 'RUNNING' | 'SUCCEEDED' | 'FAILED';
  command_error: object | null;
  command_result: unknown;
}

/** One boot of the ramdisk of Ironic: it finds its node, sends heartbeats and executes the commands of Ironic. */
export class IronicAgent {
  readonly #options: IronicAgentOptions;
  readonly #commands: Command[] = [];
  #token = '';
  #finished = Promise.withResolvers<void>();
  /** It may answer no more: what follows is the end of this boot, without a power-off. */
  #isLockedDown = false;

  constructor(options: IronicAgentOptions) {
    this.#options = options;
  }

  /** Until the signal, or until the machine is inspected or locked down. @throws the reason of the signal */
  async run(signal: AbortSignal): Promise<void> {
    const { hardware, parameters } = this.#options;
    const callback = parameters['ipa-inspection-callback-url'];
    if (callback !== undefined) await this.#untilFound(signal, callback, inventoryOf(hardware));
    const api = parameters['ipa-api-url'];
    if (api !== undefined) await this.#serve(signal, `${api.replace(/\/$/, '')}/v1`);
  }

  async #serve(signal: AbortSignal, api: string): Promise<void> {
    const { authority, hardware, parameters } = this.#options;
    const addresses = hardware.nics.map(({ macAddress }) => macAddress).join(',');
    const { node, config } = await this.#untilFound(signal, `${api}/lookup?addresses=${addresses}`);
    this.#token = parameters['ipa-agent-token'] ?? config.agent_token;
    const identity = await authority.identityFor(address);
    await using server = await listen(identity, (incoming, response) => this.#answer(incoming, response));
    const heartbeat = {
      callback_url: server.url,
      agent_version: agentVersion,
      agent_token: this.#token,
      agent_verify_ca: authority.caPem,
    };
    while (!this.#isLockedDown) {
      this.#finished = Promise.withResolvers();
      // A node that Ironic works on rejects it; the next one comes.
      await request(signal, `${api}/heartbeat/${node.uuid}`, heartbeat);
      await Promise.race([this.#finished.promise, sleep(heartbeatMs, undefined, { signal })]);
    }
  }

  /** Ironic does not tell of its node before its state is the right one. */
  async #untilFound(signal: AbortSignal, url: string, body?: object): Promise<Lookup> {
    for (;;) {
      const response = await request(signal, url, body);
      if (response?.ok === true) return lookup.parse(await response.json());
      await sleep(heartbeatMs, undefined, { signal });
    }
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(incoming.url ?? '', `https://${address}`);
    const send = (status: number, body: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (!/^\/v1\/commands\/?$/.test(pathname)) return send(404, { faultstring: 'not found' });
    if (searchParams.get('agent_token') !== this.#token) return send(401, { faultstring: 'the agent_token is wrong' });
    if (incoming.method === 'GET') return send(200, { commands: this.#commands });
    if (this.#commands.at(-1)?.command_status === 'RUNNING') return send(409, { faultstring: 'Agent is busy' });
    const { name, params } = commandOrder.parse(JSON.parse(await text(incoming)));
    const command: Command = {
      id: crypto.randomUUID(),
      command_name: name.replace(/^.*?\./, ''),
      command_params: {},
      command_status: 'RUNNING',
      command_error: null,
      command_result: null,
    };
    this.#commands.push(command);
    if (searchParams.get('wait') === 'true') await this.#execute(command, name, params);
    // A command may switch the machine off.
    else response.once('finish', () => void this.#execute(command, name, params));
    send(200, command);
  }

  async #execute(command: Command, name: string, params: unknown): Promise<void> {
    try {
      command.command_result = (await this.#options.work.execute(name, params)) ?? null;
      command.command_status = 'SUCCEEDED';
    } catch (error) {
      const { type, message, details } =
        error instanceof AgentError ? error : new AgentError('CommandExecutionError', String(error), String(error));
      command.command_error = { type, code: 500, message, details };
      command.command_status = 'FAILED';
    }
    this.#isLockedDown ||= name === 'system.lockdown';
    this.#finished.resolve();
  }
}

/** To Ironic; undefined without an answer. */
async function request(signal: AbortSignal, url: string, body?: object): Promise<Response | undefined> {
  const headers = { 'x-openstack-ironic-api-version': apiVersion, 'content-type': 'application/json' };
  const content = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  return fetch(url, { headers, signal, ...content }).catch(() => {
    signal.throwIfAborted();
    return undefined;
  });
}

interface Listening extends AsyncDisposable {
  readonly url: string;
}

async function listen(
  { certificatePem: cert, keyPem: key }: Awaited<ReturnType<FleetAuthority['identityFor']>>,
  answer: (incoming: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Listening> {
  const server = createServer({ cert, key }, (incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, address, resolve));
  const bound = server.address();
  return {
    url: `https://${address}:${typeof bound === 'object' && bound !== null ? bound.port : 0}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
