import * as z from 'zod';
import { failed, type StepResult } from '../../provisioner/step-result.ts';
import type { IronicNode } from '../node/ironic-node.ts';
import type { NodeSession } from '../node/node-session.ts';

/** A failure with the reason that Ironic gives. */
export const failure = async (session: NodeSession, node: IronicNode): Promise<StepResult> =>
  failed(await reasonOf(session, node));

/**
 * The reason of a failed state. Ironic 39 clears `last_error` when it powers the machine off after a failure: then the history of the
 * node has it.
 */
export async function reasonOf({ api }: NodeSession, node: IronicNode): Promise<string> {
  const { last_error: text, provision_state: state, uuid } = node;
  if (text !== '') return text;
  const { history } = await api.read(nodeHistory, { method: 'GET', path: `nodes/${uuid}/history?detail=true` });
  const errors = history.filter(({ severity }) => severity === 'ERROR');
  const last = errors.toSorted((one, other) => one.created_at.localeCompare(other.created_at)).at(-1);
  return last?.event ?? `Ironic gives no reason for the state "${state}" of the node`;
}

const nodeHistory = z.object({
  history: z.array(z.object({ created_at: z.string(), severity: z.string().nullish(), event: z.string().nullish() })),
});

/** Ironic was told to end the operation. */
export const isAbortion = (reason: string): boolean => /abort/i.test(reason);
