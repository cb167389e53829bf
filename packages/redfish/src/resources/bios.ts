import type * as z from 'zod';
import type { WriteResponse, Bmc } from '../http/bmc.ts';
import { pathOf } from '../endpoint.ts';
import { RedfishError, wasNotApplied } from '../errors.ts';
import { bios as biosResource, task as taskResource, taskMessage } from '../schemas.ts';
import { readSystemResource, type SystemCallOptions } from './systems.ts';

/**
 * How far a reset of the BIOS is. Pending: it waits for a start, or for the end of one. Confirmed: the BMC says that it
 * is over. Accepted: the BMC took the order and tells nothing of it, so that after a start it has to be believed.
 */
export type BiosResetState =
  | { readonly kind: 'Pending' | 'Confirmed' | 'Accepted' }
  | { readonly kind: 'Failed'; readonly message: string };

/**
 * Asks for the BIOS settings of the factory. They take effect with the next start, so that asking again before it
 * changes nothing. @returns the task that the BMC made of it, where it makes one.
 * @throws RedfishError NotSupported when the system offers no such reset.
 */
export async function resetBios(bmc: Bmc, uri: string, options: SystemCallOptions = {}): Promise<string | undefined> {
  const call = { priority: 'boot', ...options } as const;
  const { path, bios } = await readBios(bmc, uri, call);
  const action = bios?.Actions['#Bios.ResetBios'];
  if (path === undefined || action === undefined)
    throw new RedfishError({ code: 'NotSupported', message: `${uri} offers no reset of its BIOS (#Bios.ResetBios)` });
  try {
    return taskOf(await bmc.post(action.target ?? `${path}/Actions/Bios.ResetBios`, {}, call));
  } catch (error) {
    // Some refuse what is under way already.
    const isUnderWay =
      error instanceof RedfishError && wasNotApplied(error) && bios?.ResetBiosToDefaultsPending === true;
    if (!isUnderWay) throw error;
    return undefined;
  }
}

/** What the BMC says of a reset that was asked for, with the task it had made of it. */
export async function readBiosReset(
  bmc: Bmc,
  uri: string,
  task: string | undefined,
  options: SystemCallOptions = {},
): Promise<BiosResetState> {
  const call = { priority: 'boot', ...options } as const;
  const { bios } = await readBios(bmc, uri, call);
  const isPending = bios?.ResetBiosToDefaultsPending;
  if (isPending === true) return { kind: 'Pending' };
  const taskState = task === undefined ? undefined : await readTask(bmc, task, call);
  return taskState ?? { kind: isPending === undefined ? 'Accepted' : 'Confirmed' };
}

async function readBios(
  bmc: Bmc,
  uri: string,
  call: SystemCallOptions,
): Promise<{ path?: string | undefined; bios?: z.output<typeof biosResource> }> {
  const { value } = await readSystemResource(bmc, uri, call);
  return value.Bios === undefined ? {} : { path: value.Bios, bios: await bmc.get(value.Bios, biosResource, call) };
}

/** The task itself where the answer holds it; what the header names may be its monitor, which answers like the action. */
function taskOf({ status, location, body }: WriteResponse): string | undefined {
  if (status !== 202) return undefined;
  const isTask = typeof body === 'object' && body !== null && 'TaskState' in body && '@odata.id' in body;
  return isTask && typeof body['@odata.id'] === 'string' ? pathOf(body['@odata.id']) : location;
}

const failedStates: readonly string[] = ['Exception', 'Killed', 'Cancelled', 'Interrupted'];

/** Nothing of a task that is gone, or that tells no state: BMCs forget what is over. */
async function readTask(bmc: Bmc, path: string, call: SystemCallOptions): Promise<BiosResetState | undefined> {
  try {
    const { TaskState: state, Messages } = await bmc.get(path, taskResource, call);
    if (state === undefined) return undefined;
    if (state === 'Completed') return { kind: 'Confirmed' };
    if (!failedStates.includes(state)) return { kind: 'Pending' };
    const messages = Messages.flatMap((message) => taskMessage.safeParse(message).data?.Message ?? []);
    return { kind: 'Failed', message: [`task ${path} is ${state}`, ...messages].join(': ') };
  } catch (error) {
    if (error instanceof RedfishError && error.code === 'NotFound') return undefined;
    throw error;
  }
}
