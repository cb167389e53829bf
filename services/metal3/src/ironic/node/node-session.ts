import type { StepResult } from '../../provisioner/step-result.ts';
import { IronicError } from '../http/ironic-error.ts';
import type { IronicRequest } from '../http/ironic-http.ts';
import type { Delays } from './delays.ts';
import { type IronicNode, ironicNode, type PowerTarget, type ProvisionVerb } from './ironic-node.ts';
import type { JsonPatch } from './json-patch.ts';
import type { NodeApi } from './node-api.ts';

/** Ironic does not know the node that the status of the host names. */
export class NodeUnregistered extends Error {}

/** A change of the state that Ironic began, or the wait for what comes before it. */
export interface StateChange {
  readonly isAccepted: boolean;
  readonly result: StepResult;
}

/** The node of one host during one pass. It is read once, and again after a change of its state. */
export class NodeSession {
  readonly api: NodeApi;
  readonly delays: Delays;
  readonly #id: string;
  #node: IronicNode | undefined;
  #lastSeen: IronicNode | undefined;

  /** @param id of the node, from the status of the host; empty before the registration */
  constructor(api: NodeApi, delays: Delays, id: string) {
    this.api = api;
    this.delays = delays;
    this.#id = id;
  }

  /** As it was last read in this pass. */
  get lastSeen(): IronicNode | undefined {
    return this.#lastSeen;
  }

  async find(): Promise<IronicNode | undefined> {
    if (this.#node !== undefined) return this.#node;
    const id = this.#lastSeen?.uuid ?? this.#id;
    return this.use(id === '' ? undefined : await this.api.findNode(id));
  }

  /** @throws NodeUnregistered */
  async node(): Promise<IronicNode> {
    const node = await this.find();
    if (node !== undefined) return node;
    throw new NodeUnregistered('Ironic does not know the node of this host');
  }

  /** The node of this host is known from elsewhere: from a lookup, or because it was created. */
  use(node: IronicNode | undefined): IronicNode | undefined {
    this.#node = node;
    if (node !== undefined) this.#lastSeen = node;
    return node;
  }

  /** @returns the node with the changes */
  async patch(patch: JsonPatch, secrets: readonly string[] = []): Promise<IronicNode> {
    const node = await this.node();
    if (patch.length === 0) return node;
    const { body } = await this.#change({ method: 'PATCH', path: '', body: patch, secrets });
    const patched = ironicNode.safeParse(body);
    this.#node = undefined;
    return (patched.success ? this.use(patched.data) : undefined) ?? this.node();
  }

  /** Waits until Ironic controls the power, and ends a maintenance that prevents the change. */
  async changeState(target: ProvisionVerb, body: object = {}): Promise<StateChange> {
    const node = await this.node();
    if (node.fault !== '') return { isAccepted: false, result: this.delays.long() };
    if (node.maintenance === true) return { isAccepted: false, result: await this.endMaintenance() };
    await this.#change({ method: 'PUT', path: '/states/provision', body: { target, ...body } });
    return { isAccepted: true, result: this.delays.short() };
  }

  async beginState(target: ProvisionVerb, body?: object): Promise<StepResult> {
    return (await this.changeState(target, body)).result;
  }

  /** False if Ironic rejects the target, which a soft power-off may be. */
  async changePower(target: PowerTarget, timeoutSeconds?: number): Promise<boolean> {
    const timeout = timeoutSeconds === undefined ? {} : { timeout: timeoutSeconds };
    const isSoft = target.startsWith('soft');
    const body = { target, ...timeout };
    const request = { method: 'PUT', path: '/states/power', body, expected: isSoft ? [400] : [] } as const;
    return (await this.#change(request)).status !== 400;
  }

  async setTargetRaid(disks: readonly object[]): Promise<void> {
    await this.#change({ method: 'PUT', path: '/states/raid', body: { logical_disks: disks } });
  }

  async beginMaintenance(reason: string): Promise<void> {
    await this.#change({ method: 'PUT', path: '/maintenance', body: { reason } });
  }

  /** It also forgets the fault that began it. */
  async endMaintenance(): Promise<StepResult> {
    await this.#change({ method: 'DELETE', path: '/maintenance' });
    return this.delays.short();
  }

  /** A node that does not exist any more is no error. */
  async delete(): Promise<void> {
    await this.#change({ method: 'DELETE', path: '', expected: [404] });
  }

  /** A request below the path of the node. */
  async send(request: Omit<IronicRequest, 'version' | 'signal'>) {
    const { uuid } = await this.node();
    try {
      return await this.api.send({ ...request, path: `nodes/${uuid}${request.path}` });
    } catch (error) {
      if (error instanceof IronicError && error.status === 404)
        throw new NodeUnregistered('Ironic no longer knows the node of this host', { cause: error });
      throw error;
    }
  }

  async #change(request: Omit<IronicRequest, 'version' | 'signal'>) {
    const response = await this.send(request);
    this.#node = undefined;
    return response;
  }
}

export const unexpectedState = ({ uuid, provision_state: state }: IronicNode, wanted: string): IronicError =>
  new IronicError(`node ${uuid} is in state "${state}", in which Ironic does not ${wanted}`);
