import type * as z from 'zod';
import type { WriteResponse, Bmc } from '../http/bmc.ts';
import { pathOf } from '../endpoint.ts';
import { RedfishError, wasNotApplied } from '../errors.ts';
import { bios as biosResource } from '../schemas.ts';
import { task as taskResource, taskMessage } from '../update-schemas.ts';
import { readSystemResource, type SystemCallOptions } from './systems.ts';

/**
 * The progress of a BIOS reset. Pending: it waits for a start of the machine, or for its end. Confirmed: the BMC reports
 * that it is complete. Accepted: the BMC accepted it and reports no progress; after a start it counts as done.
 */
export type BiosResetState =
  | { readonly kind: 'Pending' | 'Confirmed' | 'Accepted' }
  | { readonly kind: 'Failed'; readonly message: string };

/**
 * Resets the BIOS settings to their defaults. They take effect at the next start; a second reset before it changes nothing.
 * @returns the task of the reset, when the BMC creates one.
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
    // Some BMCs reject a reset that is pending already.
    const isUnderWay =
      error instanceof RedfishError && wasNotApplied(error) && bios?.ResetBiosToDefaultsPending === true;
    if (!isUnderWay) throw error;
    return undefined;
  }
}

/** The progress of a reset, by its task when the BMC has created one. */
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

/** The task in the body, if there is one: the Location header may name its monitor, which answers like the action. */
function taskOf({ status, location, body }: WriteResponse): string | undefined {
  if (status !== 202) return undefined;
  const isTask = typeof body === 'object' && body !== null && 'TaskState' in body && '@odata.id' in body;
  return isTask && typeof body['@odata.id'] === 'string' ? pathOf(body['@odata.id']) : location;
}

const failedStates: readonly string[] = ['Exception', 'Killed', 'Cancelled', 'Interrupted'];

/** Undefined for a task without a state, or one that is gone: BMCs delete completed tasks. */
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
