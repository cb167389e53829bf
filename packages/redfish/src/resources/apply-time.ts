import type { Bmc } from '../http/bmc.ts';
import type { UpdateServiceResource } from '../update-schemas.ts';
import type { UpdateRequest } from './update-request.ts';

/** The member that names the apply time of an update, for vendors that need it. */
export function applyTimeOf(
  { traits }: Bmc,
  service: UpdateServiceResource,
  { component }: UpdateRequest,
): { '@Redfish.OperationApplyTime'?: string } {
  if (!traits.update.namesApplyTime) return {};
  const supported = [service, service.Actions['#UpdateService.SimpleUpdate']].flatMap(
    (place) => place?.['@Redfish.OperationApplyTimeSupport'].SupportedValues ?? [],
  );
  const isOnReset = component !== 'BMC' && supported.includes('OnReset');
  return { '@Redfish.OperationApplyTime': isOnReset ? 'OnReset' : 'Immediate' };
}
