import * as z from 'zod';
import { IronicError } from '../http/ironic-error.ts';
import type { IronicRequest, IronicResponse } from '../http/ironic-http.ts';
import type { ReadyIronic } from '../http/ironic-connection.ts';
import { type Feature, features } from '../http/microversion.ts';
import { type IronicNode, ironicNode } from './ironic-node.ts';

const port = z.object({ uuid: z.string(), address: z.string(), node_uuid: z.string() });
export type IronicPort = z.output<typeof port>;
const ports = z.object({ ports: z.array(port) });

type Request = Pick<IronicRequest, 'method' | 'path' | 'body' | 'expected' | 'secrets'>;

/** Requests of one pass, with the version that Ironic supports. */
export class NodeApi {
  readonly #ironic: ReadyIronic;
  readonly #signal: AbortSignal | undefined;

  constructor(ironic: ReadyIronic, signal: AbortSignal | undefined) {
    this.#ironic = ironic;
    this.#signal = signal;
  }

  has(feature: Feature): boolean {
    return this.#ironic.version >= features[feature];
  }

  send(request: Request): Promise<IronicResponse> {
    return this.#ironic.http.send({ ...request, version: this.#ironic.version, signal: this.#signal });
  }

  /** The body of a response, by its schema. @throws IronicError */
  async read<T>(schema: z.ZodType<T>, request: Request): Promise<T> {
    const { body } = await this.send(request);
    return parse(schema, body, request);
  }

  /** By UUID or name. */
  async findNode(id: string): Promise<IronicNode | undefined> {
    const request: Request = { method: 'GET', path: `nodes/${encodeURIComponent(id)}`, expected: [404] };
    const { status, body } = await this.send(request);
    return status === 404 ? undefined : parse(ironicNode, body, request);
  }

  async portsOf(query: { readonly node_uuid: string } | { readonly address: string }): Promise<readonly IronicPort[]> {
    const text = new URLSearchParams({ ...query, fields: 'node_uuid,uuid,address' }).toString();
    return (await this.read(ports, { method: 'GET', path: `ports?${text}` })).ports;
  }
}

function parse<T>(schema: z.ZodType<T>, body: unknown, { method, path }: Request): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const reason = z.prettifyError(result.error).replaceAll('\n', ' ');
  throw new IronicError(`the answer of Ironic to ${method} ${path.split('?')[0]} is not as expected: ${reason}`);
}
