import type { Bmc } from '../http/bmc.ts';
import { RedfishError } from '../errors.ts';
import { allowedResetTypes, chooseReset } from './resets.ts';
import { readSystemResource, type SystemCallOptions } from './systems.ts';

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

/** Replacements for a type that the BMC does not offer. A graceful type is never replaced by a forced one. */
const substitutes: Partial<Record<ResetType, readonly ResetType[]>> = {
  ForceOn: ['On'],
  On: ['ForceOn'],
  ForceRestart: ['PowerCycle'],
};

export interface ResetOptions extends SystemCallOptions {
  /** Called just before the reset is sent: from then on only a read shows whether it happened. */
  readonly onSend?: (() => void) | undefined;
  /** Fails with PowerMismatch, without sending, when the read before the reset shows another power state. */
  readonly expectedPower?: 'On' | 'Off' | undefined;
}

/**
 * Requests a reset and resolves with the type that was sent. It means that the BMC accepted it; a later read shows whether
 * it happened. Never sent twice. A system that names no reset action gets it at the path of the standard: its BMC knows.
 * @throws RedfishError NotSupported when the system offers neither this type nor a substitute of it,
 * IdentityMismatch when another machine than `expectedUuid` answers.
 */
export async function resetSystem(
  bmc: Bmc,
  uri: string,
  type: ResetType,
  { onSend, expectedPower, ...options }: ResetOptions = {},
): Promise<ResetType> {
  const urgent: SystemCallOptions = { priority: 'power', ...options };
  const { value } = await readSystemResource(bmc, uri, urgent);
  requirePower(uri, value.PowerState, expectedPower);
  const action = value.Actions['#ComputerSystem.Reset'];
  const allowed = await allowedResetTypes(bmc, action, urgent);
  const ResetType = chooseReset(uri, [type, ...(substitutes[type] ?? [])], allowed);
  onSend?.();
  await bmc.post(action?.target ?? `${uri}/Actions/ComputerSystem.Reset`, { ResetType }, urgent);
  return ResetType;
}

/** A BMC that reports no power state passes. */
function requirePower(uri: string, actual: string | undefined, expected: string | undefined): void {
  if (expected === undefined || actual === undefined || actual === expected) return;
  throw new RedfishError({
    code: 'PowerMismatch',
    message: `${uri} was to be changed from power ${expected} and reports ${actual}; nothing was sent to it`,
  });
}
