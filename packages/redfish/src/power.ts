import type { Bmc, CallOptions } from './bmc.ts';
import { allowedResetTypes, chooseReset } from './resets.ts';
import { readSystemResource } from './systems.ts';

export type ResetType =
  | 'On'
  | 'ForceOn'
  | 'ForceOff'
  | 'GracefulShutdown'
  | 'GracefulRestart'
  | 'ForceRestart'
  | 'PowerCycle'
  | 'PushPowerButton'
  | 'Nmi';

/** What comes closest where a BMC does not offer a type. Force is never chosen in place of a graceful way. */
const substitutes: Partial<Record<ResetType, readonly ResetType[]>> = {
  ForceOn: ['On'],
  On: ['ForceOn'],
  ForceRestart: ['PowerCycle'],
};

/**
 * Asks for a reset and answers with the type that was asked for in the end. Says only that the BMC accepted it:
 * whether it happened is seen by looking. Never sent twice.
 * @throws RedfishError NotSupported when the BMC advertises its types and neither this nor a substitute is among them.
 */
export async function resetSystem(
  bmc: Bmc,
  uri: string,
  type: ResetType,
  options: CallOptions = {},
): Promise<ResetType> {
  const urgent: CallOptions = { priority: 'power', ...options };
  const { value } = await readSystemResource(bmc, uri, urgent);
  const action = value.Actions['#ComputerSystem.Reset'];
  const allowed = await allowedResetTypes(bmc, action, urgent);
  const ResetType = chooseReset(uri, [type, ...(substitutes[type] ?? [])], allowed);
  await bmc.post(action.target ?? `${uri}/Actions/ComputerSystem.Reset`, { ResetType }, urgent);
  return ResetType;
}
