import type { Bmc, CallOptions } from './bmc.ts';
import { RedfishError } from './errors.ts';
import { system } from './schemas.ts';

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
const substitutes: Partial<Record<ResetType, readonly ResetType[]>> = { ForceOn: ['On'], On: ['ForceOn'] };

/**
 * Asks for a reset. Says only that the BMC accepted it: whether it happened is seen by looking. Never sent twice.
 * @throws RedfishError NotSupported when the BMC advertises its types and neither this nor a substitute is among them.
 */
export async function resetSystem(bmc: Bmc, uri: string, type: ResetType, options: CallOptions = {}): Promise<void> {
  const { Actions } = await bmc.get(uri, system, { ...options, priority: 'power' });
  const action = Actions?.['#ComputerSystem.Reset'];
  const chosen = choose(type, action?.['ResetType@Redfish.AllowableValues'], uri);
  await bmc.post(
    action?.target ?? `${uri}/Actions/ComputerSystem.Reset`,
    { ResetType: chosen },
    { ...options, priority: 'power' },
  );
}

function choose(type: ResetType, allowed: readonly string[] | undefined, uri: string): ResetType {
  if (allowed === undefined || allowed.length === 0 || allowed.includes(type)) return type;
  const substitute = substitutes[type]?.find((candidate) => allowed.includes(candidate));
  if (substitute !== undefined) return substitute;
  throw new RedfishError({
    code: 'NotSupported',
    message: `${uri} does not offer reset type ${type}; it offers ${allowed.join(', ')}`,
  });
}
