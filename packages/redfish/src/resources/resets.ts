import type { Bmc, CallOptions } from '../http/bmc.ts';
import { RedfishError } from '../errors.ts';
import { concernsOneResource } from './members.ts';
import { actionInfo, actionParameter } from '../schemas.ts';

/** A reset action as a resource advertises it. */
export interface ResetAction {
  readonly target: string | undefined;
  readonly 'ResetType@Redfish.AllowableValues': readonly string[] | undefined;
  readonly '@Redfish.ActionInfo': string | undefined;
}

/**
 * Reset types that the action accepts, inline or in its ActionInfo resource; undefined when it advertises none, when the
 * ActionInfo that it names cannot be read, or when the resource names no action.
 */
export async function allowedResetTypes(
  bmc: Bmc,
  action: ResetAction | undefined,
  options: CallOptions,
): Promise<readonly string[] | undefined> {
  const inline = action?.['ResetType@Redfish.AllowableValues'] ?? [];
  if (inline.length > 0) return inline;
  const info = action?.['@Redfish.ActionInfo'];
  if (info === undefined) return undefined;
  const { Parameters } = await bmc
    .get(info, actionInfo, { ...options, isSideResource: true })
    .catch((error: unknown) => {
      if (!concernsOneResource(error)) throw error;
      return { Parameters: [] };
    });
  const parameters = Parameters.flatMap((parameter) => actionParameter.safeParse(parameter).data ?? []);
  return parameters.find(({ Name }) => Name === 'ResetType')?.AllowableValues;
}

/** The first allowed type. @throws RedfishError NotSupported, whose message lists the allowed types. */
export function chooseReset<T extends string>(
  uri: string,
  [wanted, ...substitutes]: readonly [T, ...T[]],
  allowed: readonly string[] | undefined,
): T {
  if (allowed === undefined || allowed.length === 0) return wanted;
  const chosen = [wanted, ...substitutes].find((type) => allowed.includes(type));
  if (chosen !== undefined) return chosen;
  throw new RedfishError({
    code: 'NotSupported',
    message: `${uri} does not offer reset type ${wanted}; it offers ${allowed.join(', ')}`,
  });
}
